import type { BotItemFragment } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';

type Reply = BotItemFragment['reply'];

/** Summarizes a reply in one line: its text, the name of its template, or the kind of its file. */
export function useReplyText(): (reply: Reply) => string {
  const { t } = useTexts();
  return reply => {
    switch (reply.__typename) {
      case 'TextContent':
      case 'InteractiveContent':
        return reply.body;
      case 'TemplateContent':
        return t('bots.replyTemplate', { name: reply.templateName });
      case 'MediaContent':
        return [t(`media.${reply.media.kind}`), reply.caption].filter(Boolean).join(': ');
      default:
        return '';
    }
  };
}

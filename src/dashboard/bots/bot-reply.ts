import type { BotItemFragment } from '../documents.generated.ts';

/** A reply in a line. */
export function replyText(reply: BotItemFragment['reply']): string {
  if ('body' in reply) return reply.body;
  return 'templateName' in reply ? reply.templateName : reply.__typename.replace('Content', '');
}

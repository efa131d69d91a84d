import { type FormEvent, useMemo, useState } from 'react';
import { useQuery } from 'urql';
import { type ConversationRowFragment, PreviewTemplateDocument, type TemplateInput } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { AnsweredDialog } from './answered-dialog.tsx';
import type { CannedReply } from './canned-replies.tsx';
import { useDraft } from './draft.ts';
import { MessageContent } from './message-content.tsx';
import { RenderedTemplate } from './rendered-template.tsx';
import { instantOf, SendLaterField } from './send-later.tsx';
import { useSend } from './use-send.ts';

interface Props {
  readonly conversation: ConversationRowFragment;
  readonly reply: CannedReply;
  readonly onClose: () => void;
}

/** Shows a prepared answer that is not a text, which the composer cannot hold, and sends it once its sender agrees. */
export function CannedDialog({ conversation, reply, onClose }: Props) {
  const { t } = useTexts();
  const { send, errors, failure, isSending, blockedSend } = useSend(conversation.id);
  const { quote } = useDraft();
  const [later, setLater] = useState('');
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await send({ cannedReplyId: reply.id }, { scheduledAt: instantOf(later) })) {
      quote(undefined);
      onClose();
    }
  };
  return (
    <Dialog title={reply.title} onClose={onClose}>
      <form className="form" onSubmit={event => void submit(event)}>
        <p className="muted">
          {t('canned.explained', { name: conversation.contact?.displayName ?? t('inbox.unknown') })}
        </p>
        <fieldset className="preview" aria-label={t('template.preview')}>
          <div className="bubble ours">
            <Content reply={reply} contactId={conversation.contact?.id} />
          </div>
        </fieldset>
        <SendLaterField value={later} onChange={setLater} windowEnd={conversation.serviceWindow.expiresAt} />
        <UserErrors errors={errors} failure={failure} />
        <footer className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary" disabled={isSending}>
            {later === '' ? t('composer.send') : t('later.schedule')}
          </button>
        </footer>
      </form>
      {blockedSend && <AnsweredDialog blockedSend={blockedSend} />}
    </Dialog>
  );
}

/** The content of an answer. A template is rendered for the person, because it has been sent to nobody yet. */
function Content({
  reply: { content, title },
  contactId,
}: {
  readonly reply: CannedReply;
  readonly contactId: string | undefined;
}) {
  const template = useMemo(() => templateOf(content), [content]);
  const [{ data }] = useQuery({
    query: PreviewTemplateDocument,
    variables: { template: template ?? NO_TEMPLATE, contactId },
    pause: template === undefined,
  });
  const rendered = data?.previewTemplate?.rendered;
  if (rendered) return <RenderedTemplate rendered={rendered} />;
  return (
    <>
      <MessageContent content={content} previewText={title} />
      <UserErrors errors={data?.previewTemplate?.userErrors ?? []} />
    </>
  );
}

const NO_TEMPLATE: TemplateInput = { name: '', language: '' };

/** The input that a template was prepared with; undefined for other content. Files of its header are shown by their template. */
function templateOf(content: CannedReply['content']): TemplateInput | undefined {
  if (content.__typename !== 'TemplateContent') return undefined;
  const { templateName: name, language, values } = content;
  const { header, body, bodyByName, buttons } = values;
  return {
    name,
    language,
    ...(body.length > 0 && { body: [...body] }),
    ...(bodyByName.length > 0 && { bodyByName: bodyByName.map(each => ({ name: each.name, value: each.value })) }),
    ...(buttons.length > 0 && { buttons: buttons.map(({ index, value }) => ({ index, value })) }),
    ...(header?.text && { header: { text: header.text } }),
  };
}

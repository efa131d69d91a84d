import { type FormEvent, useState } from 'react';
import type { ConversationRowFragment } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { AnsweredDialog } from './answered-dialog.tsx';
import { CHOICE_KINDS, type ChoiceDraft, ChoiceFields, type ChoiceKind, choiceInput } from './choice-fields.tsx';
import { useDraft } from './draft.ts';
import { instantOf, SendLaterField } from './send-later.tsx';
import { useSend } from './use-send.ts';

interface Props {
  readonly conversation: ConversationRowFragment;
  readonly onClose: () => void;
}

/** Asks a question with buttons or a list, or shows a link. */
export function ChoiceDialog({ conversation, onClose }: Props) {
  const { t } = useTexts();
  const { send, errors, failure, isSending, blockedSend } = useSend(conversation.id);
  const { quote } = useDraft();
  const [later, setLater] = useState('');
  const [body, setBody] = useState('');
  const [kind, setKind] = useState<ChoiceKind>('buttons');
  const [draft, setDraft] = useState<ChoiceDraft>(() => ({
    buttons: [],
    listButton: t('choice.open'),
    rows: [],
    linkText: '',
    url: '',
  }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await send({ interactive: { body, ...choiceInput(kind, draft) } }, { scheduledAt: instantOf(later) })) {
      quote(undefined);
      onClose();
    }
  };
  return (
    <Dialog title={t('composer.choice')} onClose={onClose}>
      <form onSubmit={event => void submit(event)} className="form">
        <fieldset className="tabs" aria-label={t('choice.kind')}>
          {CHOICE_KINDS.map(each => (
            <button key={each} type="button" className="tab" aria-pressed={each === kind} onClick={() => setKind(each)}>
              {t(`choice.${each}`)}
            </button>
          ))}
        </fieldset>
        <label className="field">
          <span>{t('choice.question')}</span>
          <textarea required rows={3} value={body} onChange={event => setBody(event.target.value)} />
        </label>
        <ChoiceFields kind={kind} draft={draft} onChange={setDraft} />
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

import { type FormEvent, useState } from 'react';
import type { ConversationRowFragment } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { HeldDialog } from './held-dialog.tsx';
import { instantOf, SendLaterField } from './send-later.tsx';
import { useSend } from './use-send.ts';

interface Props {
  readonly conversation: ConversationRowFragment;
  readonly onClose: () => void;
}

/** The network allows three buttons. */
const CHOICES = [1, 2, 3] as const;
type Choice = (typeof CHOICES)[number];

/** Asks a question with up to three buttons. */
export function ChoiceDialog({ conversation, onClose }: Props) {
  const { t } = useTexts();
  const { send, errors, failure, isSending, held } = useSend(conversation.id);
  const [later, setLater] = useState('');
  const [body, setBody] = useState('');
  const [titles, setTitles] = useState<Readonly<Record<Choice, string>>>({ 1: '', 2: '', 3: '' });
  const filled = CHOICES.map(choice => titles[choice].trim()).filter(Boolean);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const buttons = filled.map((title, index) => ({ replyId: `choice-${index + 1}`, title }));
    if (await send({ interactive: { body, buttons } }, { scheduledAt: instantOf(later) })) onClose();
  };
  return (
    <Dialog title={t('composer.choice')} onClose={onClose}>
      <form onSubmit={event => void submit(event)} className="form">
        <label className="field">
          <span>{t('choice.question')}</span>
          <textarea required rows={3} value={body} onChange={event => setBody(event.target.value)} />
        </label>
        {CHOICES.map(choice => (
          <label className="field" key={choice}>
            <span>{t('choice.button', { count: choice })}</span>
            <input
              maxLength={20}
              required={choice === 1}
              value={titles[choice]}
              onChange={event => setTitles({ ...titles, [choice]: event.target.value })}
            />
          </label>
        ))}
        <SendLaterField value={later} onChange={setLater} windowEnd={conversation.serviceWindow.expiresAt} />
        <UserErrors errors={errors} failure={failure} />
        <footer className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary" disabled={isSending || filled.length === 0}>
            {later === '' ? t('composer.send') : t('later.schedule')}
          </button>
        </footer>
      </form>
      {held && <HeldDialog held={held} />}
    </Dialog>
  );
}

import { type FormEvent, useState } from 'react';
import type { ConversationRowFragment } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
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
  const { send, errors, failure, isSending } = useSend(conversation.id);
  const [body, setBody] = useState('');
  const [titles, setTitles] = useState<Readonly<Record<Choice, string>>>({ 1: '', 2: '', 3: '' });
  const filled = CHOICES.map(choice => titles[choice].trim()).filter(Boolean);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const buttons = filled.map((title, index) => ({ replyId: `choice-${index + 1}`, title }));
    if (await send({ interactive: { body, buttons } })) onClose();
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
        <UserErrors errors={errors} failure={failure} />
        <footer className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary" disabled={isSending || filled.length === 0}>
            {t('composer.send')}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import type { BlockedSend } from './use-send.ts';

/** Shows what a colleague answered in the meantime, and asks whether to send all the same. */
export function AnsweredDialog({ blockedSend: { answer, decide } }: { readonly blockedSend: BlockedSend }) {
  const { t } = useTexts();
  const dates = useDates();
  const name = answer.sentBy?.displayName ?? t('held.somebody');
  return (
    <Dialog title={t('held.title', { name })} onClose={() => decide(false)}>
      <div className="held">
        <p>{t('held.text')}</p>
        <blockquote className="quote">
          <span className="small">
            <bdi>{name}</bdi> · {dates.time(answer.createdAt)}
          </span>
          <span dir="auto">{answer.previewText}</span>
        </blockquote>
      </div>
      <footer className="dialog-foot">
        <button type="button" className="button" onClick={() => decide(true)}>
          {t('held.send')}
        </button>
        <button type="button" className="button primary" onClick={() => decide(false)}>
          {t('held.keep')}
        </button>
      </footer>
    </Dialog>
  );
}

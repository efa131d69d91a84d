import { useMutation, useQuery } from 'urql';
import { ConversationNotesDocument, DeleteNoteDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useNow } from '../ui/now.ts';
import { NOTES_CHANGED } from './note-signal.ts';
import { useWindowEvent } from './window-event.ts';

/** Notes to colleagues, which the customer never sees. They are written in the composer. */
export function Notes({ conversationId }: { readonly conversationId: string }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const now = useNow();
  const [{ data }, refetch] = useQuery({
    query: ConversationNotesDocument,
    variables: { id: conversationId },
    requestPolicy: 'cache-and-network',
  });
  const [, remove] = useMutation(DeleteNoteDocument);
  const reload = (): void => refetch({ requestPolicy: 'network-only' });
  useWindowEvent(NOTES_CHANGED, reload);
  const notes = data?.conversation?.notes?.nodes ?? [];
  return (
    <section>
      <h3>{t('details.notes')}</h3>
      {notes.length === 0 && <p className="muted small">{t('details.noNotes')}</p>}
      <ul className="notes">
        {notes.map(note => (
          <li key={note.id} className="note">
            <p dir="auto">{note.body}</p>
            <footer className="muted small">
              <bdi>{note.author.displayName}</bdi> · {dates.brief(note.createdAt, now)}
              {can('NOTES_WRITE') && (
                <button
                  type="button"
                  className="icon-button small"
                  aria-label={t('details.deleteNote')}
                  onClick={() => void remove({ input: { id: note.id } }).then(reload)}
                >
                  <Icon name="trash" size={15} />
                </button>
              )}
            </footer>
          </li>
        ))}
      </ul>
    </section>
  );
}

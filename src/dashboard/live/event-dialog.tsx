import { useQuery } from 'urql';
import { LiveEventDetailsDocument } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { wireType } from './event-type.ts';

/** An event with its payload, as webhooks deliver it. */
export function EventDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const dates = useDates();
  const [{ data, error, fetching }] = useQuery({ query: LiveEventDetailsDocument, variables: { id } });
  const event = data?.node && 'payload' in data.node ? data.node : undefined;
  return (
    <Dialog title={event ? wireType(event.type) : t('live.event')} onClose={onClose} isWide>
      <div className="form" aria-busy={fetching}>
        <UserErrors failure={error} />
        {event && (
          <>
            <p className="muted">{dates.full(event.occurredAt)}</p>
            <pre className="code-block" dir="ltr">
              {JSON.stringify(event.payload, null, 2)}
            </pre>
          </>
        )}
      </div>
    </Dialog>
  );
}

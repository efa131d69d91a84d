import { useEffect } from 'react';
import { useQuery } from 'urql';
import { type ExportItemFragment, ExportStateDocument } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';

const POLL_MS = 1_000;

/** The progress of an export, then the link to its file. */
export function ExportProgress({ started }: { readonly started: ExportItemFragment }) {
  const { t } = useTexts();
  const dates = useDates();
  const [{ data }, refetch] = useQuery({
    query: ExportStateDocument,
    variables: { id: started.id },
    requestPolicy: 'cache-and-network',
  });
  const current = data?.export ?? started;
  const isOver = current.state !== 'QUEUED' && current.state !== 'RUNNING';
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => refetch({ requestPolicy: 'network-only' }), POLL_MS);
    return () => clearInterval(timer);
  }, [isOver, refetch]);
  return (
    <div className="export-progress" aria-live="polite">
      {!isOver && (
        <>
          <progress className="progress" aria-label={t('export.running')} />
          <p className="muted">{t(current.state === 'QUEUED' ? 'export.queued' : 'export.running')}</p>
        </>
      )}
      {current.state === 'COMPLETED' && (
        <>
          <p className="notice good">{t('export.rows', { count: current.rowCount ?? 0 })}</p>
          {current.url && (
            <a className="button primary" href={current.url} download>
              <Icon name="download" size={17} /> {t('export.download', { type: current.fileType })}
            </a>
          )}
          {current.expiresAt && (
            <p className="muted small">{t('export.expires', { time: dates.full(current.expiresAt) })}</p>
          )}
        </>
      )}
      {(current.state === 'FAILED' || current.state === 'EXPIRED') && (
        <p className="notice danger" role="alert">
          {current.error ?? t('export.gone')}
        </p>
      )}
    </div>
  );
}

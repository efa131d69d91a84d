import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  ContactCountDocument,
  type ContactFilter,
  CreateExportDocument,
  ExportContactDocument,
  type ExportResourceInput,
  type FileType,
} from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { ExportProgress } from './export-progress.tsx';

const FILE_TYPES = ['CSV', 'JSON'] as const satisfies readonly FileType[];

interface FormProps {
  readonly title: string;
  readonly text: string;
  readonly note?: string | undefined;
  readonly resource: ExportResourceInput;
  readonly onClose: () => void;
}

/** Chooses the format, starts an export, and gives its file. */
export function ExportForm({ title, text, note, resource, onClose }: FormProps) {
  const { t } = useTexts();
  const [fileType, setFileType] = useState<FileType>('CSV');
  const [started, start] = useMutation(CreateExportDocument);
  const running = started.data?.createExport?.export;
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form">
        {running ? (
          <ExportProgress started={running} />
        ) : (
          <>
            <p>{text}</p>
            {note !== undefined && <p className="notice">{note}</p>}
            <fieldset className="choices" aria-label={t('export.fileType')}>
              {FILE_TYPES.map(each => (
                <label key={each} className="choice-card">
                  <input type="radio" name="type" checked={each === fileType} onChange={() => setFileType(each)} />
                  <span>
                    <strong>{each}</strong>
                    <span className="muted small">{t(`export.${each}`)}</span>
                  </span>
                </label>
              ))}
            </fieldset>
            <UserErrors errors={started.data?.createExport?.userErrors ?? []} failure={started.error} />
          </>
        )}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t(running ? 'close' : 'cancel')}
          </button>
          {!running && (
            <button
              type="button"
              className="button primary"
              disabled={started.fetching}
              onClick={() => void start({ input: { fileType, resource } })}
            >
              {t('export.start')}
            </button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

interface Props {
  readonly filter: ContactFilter;
  /** Whether the list is narrowed by a search, which an export ignores. */
  readonly hasSearch: boolean;
  readonly onClose: () => void;
}

/** Writes the contacts of a filter to a file. */
export function ExportDialog({ filter, hasSearch, onClose }: Props) {
  const { t } = useTexts();
  const [{ data }] = useQuery({
    query: ContactCountDocument,
    variables: { filter },
    requestPolicy: 'cache-and-network',
  });
  return (
    <ExportForm
      title={t('export.title')}
      text={t('export.text', { count: data?.contacts?.totalCount ?? 0 })}
      note={hasSearch ? t('export.noSearch') : undefined}
      resource={{ contacts: filter }}
      onClose={onClose}
    />
  );
}

/** Exports all data held about one person to one file, as a person may demand. */
export function ExportPersonDialog({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const { t } = useTexts();
  const [started, start] = useMutation(ExportContactDocument);
  const running = started.data?.exportContact?.export;
  return (
    <Dialog title={t('export.person', { name })} onClose={onClose}>
      <div className="form">
        {running ? <ExportProgress started={running} /> : <p>{t('export.personText')}</p>}
        <UserErrors errors={started.data?.exportContact?.userErrors ?? []} failure={started.error} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t(running ? 'close' : 'cancel')}
          </button>
          {!running && (
            <button
              type="button"
              className="button primary"
              disabled={started.fetching}
              onClick={() => void start({ input: { id } })}
            >
              {t('export.start')}
            </button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

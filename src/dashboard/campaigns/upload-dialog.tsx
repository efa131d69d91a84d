import { useState } from 'react';
import { ColumnMapping, type Mapping } from '../csv/column-mapping.tsx';
import { CsvDrop } from '../csv/csv-drop.tsx';
import type { CsvTable } from '../csv/csv-file.ts';
import { CsvPreview } from '../csv/csv-preview.tsx';
import { type RowError, RowErrors } from '../csv/row-errors.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Progress } from '../ui/progress.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';
import type { ListChoice } from './campaign-draft.ts';
import { LIST_FIELDS, type ListField, type UploadOutcome, useUpload } from './use-upload.ts';

const NOTHING = Object.fromEntries(LIST_FIELDS.map(field => [field, ''])) as Mapping<ListField>;

interface Props {
  readonly onClose: () => void;
  readonly onUploaded: (list: ListChoice) => void;
}

/** Uploads a list of people for campaigns: file, columns, a check of all rows, then the rows that were left out with their faults. */
export function UploadDialog({ onClose, onUploaded }: Props) {
  const { t, language } = useTexts();
  const { outcome, check, upload, reset } = useUpload();
  const [table, setTable] = useState<CsvTable>();
  const [name, setName] = useState('');
  const [mapping, setMapping] = useState(NOTHING);
  const take = async (chosen: CsvTable, fileName: string): Promise<void> => {
    const { COLUMN_NAMES, guessColumn } = await import('../csv/csv-file.ts');
    setMapping(
      Object.fromEntries(
        LIST_FIELDS.map(field => [field, guessColumn(chosen.columns, COLUMN_NAMES[field])]),
      ) as typeof NOTHING,
    );
    setName(fileName.replace(/\.\w+$/, ''));
    setTable(chosen);
  };
  const submit = async (): Promise<void> => {
    if (!table) return;
    if (!isChecked) return check(table, mapping);
    const list = await upload(name, table, mapping);
    if (list) onUploaded(list);
  };
  const download = async (errors: readonly RowError[]): Promise<void> => {
    if (!table) return;
    const { saveFaulty } = await import('../csv/csv-file.ts');
    saveFaulty(name, table, errors);
  };
  const faults = outcome?.step === 'stopped' ? outcome.faults : [];
  const isForm = table !== undefined && (!outcome || outcome.step === 'stopped');
  const isRunning = outcome?.step === 'checking' || outcome?.step === 'uploading';
  const isChecked = outcome?.step === 'checked';
  const list = outcome?.step === 'uploaded' ? outcome.list : undefined;
  return (
    <Dialog title={t('upload.title')} onClose={onClose} isWide>
      <form
        className="form"
        onSubmit={event => {
          event.preventDefault();
          void submit();
        }}
      >
        {!table && <CsvDrop hint={t('upload.hint')} onTable={(chosen, file) => void take(chosen, file)} />}
        {isForm && (
          <>
            <Field
              label={t('upload.name')}
              value={name}
              error={errorsOf(faults, 'name')}
              onChange={setName}
              isRequired
            />
            <CsvPreview table={table} used={Object.values(mapping)} />
            <ColumnMapping
              table={table}
              fields={LIST_FIELDS}
              mapping={mapping}
              labelOf={field => t(`field.${field}`)}
              errorOf={field => (field === 'phone' && mapping.phone === '' ? t('import.needsPhone') : undefined)}
              onChange={setMapping}
            />
            <p className="muted small">{t('upload.columnsHint')}</p>
            <UserErrors errors={faults.filter(({ path }) => path?.[0] !== 'name')} />
          </>
        )}
        {isRunning && (
          <Progress
            label={t(outcome.step === 'checking' ? 'import.checking' : 'upload.running')}
            value={outcome.done}
            max={outcome.total}
          />
        )}
        {isChecked && (
          <div aria-live="polite" className="form">
            <Counts outcome={outcome} />
            <RowErrors
              errors={outcome.errors}
              count={outcome.errorCount}
              onDownload={() => void download(outcome.errors)}
            />
          </div>
        )}
        {list && (
          <div aria-live="polite" className="form">
            <p className="notice good">
              {t('upload.done', { name: list.name, count: list.rowCount.toLocaleString(language) })}
            </p>
            <RowErrors errors={list.errors} count={list.errorCount} onDownload={() => void download(list.errors)} />
          </div>
        )}
        <div className="dialog-foot">
          {!list && (
            <button type="button" className="button" onClick={isChecked ? reset : onClose}>
              {t(isChecked ? 'back' : 'cancel')}
            </button>
          )}
          {isForm && (
            <button type="submit" className="button primary" disabled={mapping.phone === ''}>
              {t('import.check')}
            </button>
          )}
          {isChecked && (
            <button type="submit" className="button primary" disabled={outcome.people === 0}>
              {t('upload.start', { count: outcome.people })}
            </button>
          )}
          {list && (
            <button type="button" className="button primary" onClick={onClose}>
              {t('done')}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** Counts of the preview of an upload. */
function Counts({ outcome: { people, newContacts, errorCount } }: { readonly outcome: UploadOutcome }) {
  const { t, language } = useTexts();
  const figures = [
    ['good', 'import.new', newContacts],
    ['', 'import.existing', people - newContacts],
    ['danger', 'import.faulty', errorCount],
  ] as const;
  return (
    <dl className="figure-boxes">
      {figures.map(([tone, label, count]) => (
        <div key={label} className={`figure-box ${count > 0 ? tone : ''}`}>
          <dt>{t(label)}</dt>
          <dd>{count.toLocaleString(language)}</dd>
        </div>
      ))}
    </dl>
  );
}

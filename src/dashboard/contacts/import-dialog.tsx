import { useState } from 'react';
import { ColumnMapping, type Mapping } from '../csv/column-mapping.tsx';
import { CsvDrop } from '../csv/csv-drop.tsx';
import type { CsvTable } from '../csv/csv-file.ts';
import { CsvPreview } from '../csv/csv-preview.tsx';
import { RowErrors } from '../csv/row-errors.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Progress } from '../ui/progress.tsx';
import { type ImportRow, useImport } from './use-import.ts';

const FIELDS = [
  'phone',
  'firstName',
  'lastName',
  'email',
  'company',
  'address',
  'city',
  'zip',
  'country',
  'description',
] as const;
type ImportField = (typeof FIELDS)[number];

const NOTHING = Object.fromEntries(FIELDS.map(field => [field, ''])) as Mapping<ImportField>;

interface Chosen {
  readonly table: CsvTable;
  readonly name: string;
}

interface Props {
  readonly onClose: () => void;
  readonly onImported: () => void;
}

/** Reads a CSV file, checks all rows, imports those without a fault, and offers the others with their faults as a download. */
export function ImportDialog({ onClose, onImported }: Props) {
  const { t } = useTexts();
  const [chosen, setChosen] = useState<Chosen>();
  const [mapping, setMapping] = useState(NOTHING);
  const [group, setGroup] = useState('');
  const { outcome, run, stop, reset } = useImport();
  const take = async (table: CsvTable, name: string): Promise<void> => {
    const { COLUMN_NAMES, guessColumn } = await import('../csv/csv-file.ts');
    setMapping(
      Object.fromEntries(
        FIELDS.map(field => [field, guessColumn(table.columns, COLUMN_NAMES[field])]),
      ) as typeof NOTHING,
    );
    setChosen({ table, name });
  };
  const rows = (): ImportRow[] => (chosen ? rowsOf(chosen.table, mapping, group.trim()) : []);
  const importAll = async (): Promise<void> => {
    await run(rows(), false);
    onImported();
  };
  const download = async (): Promise<void> => {
    if (!chosen || !outcome) return;
    const { saveFaulty } = await import('../csv/csv-file.ts');
    saveFaulty(chosen.name.replace(/\.\w+$/, ''), chosen.table, outcome.errors);
  };
  const isRunning = outcome?.step === 'checking' || outcome?.step === 'importing';
  const isOver = outcome?.step === 'imported' || outcome?.step === 'stopped';
  return (
    <Dialog title={t('import.title')} onClose={onClose} isWide>
      <div className="form">
        {!chosen && <CsvDrop hint={t('import.hint')} onTable={(table, name) => void take(table, name)} />}
        {chosen && !outcome && (
          <>
            <p className="muted">{t('import.file', { name: chosen.name, count: chosen.table.rows.length })}</p>
            <CsvPreview table={chosen.table} used={Object.values(mapping)} />
            <h3>{t('import.columns')}</h3>
            <ColumnMapping
              table={chosen.table}
              fields={FIELDS}
              mapping={mapping}
              labelOf={field => t(`field.${field}`)}
              errorOf={field => (field === 'phone' && mapping.phone === '' ? t('import.needsPhone') : undefined)}
              onChange={setMapping}
            />
            <Field label={t('import.group')} hint={t('import.groupHint')} value={group} onChange={setGroup} />
          </>
        )}
        {outcome && (
          <div aria-live="polite" className="form">
            {isRunning && (
              <>
                <Progress label={t(`import.${outcome.step}`)} value={outcome.done} max={outcome.total} />
                <p className="muted">
                  {t(`import.${outcome.step}`)} {t('import.progress', { done: outcome.done, total: outcome.total })}
                </p>
              </>
            )}
            {!isRunning && <Counts outcome={outcome} />}
            {outcome.problem !== undefined && <p className="notice danger">{outcome.problem}</p>}
            {!isRunning && (
              <RowErrors errors={outcome.errors} count={outcome.errors.length} onDownload={() => void download()} />
            )}
          </div>
        )}
        <div className="dialog-foot">
          {chosen && !isRunning && !isOver && (
            <button
              type="button"
              className="button"
              onClick={() => {
                if (outcome) reset();
                else setChosen(undefined);
              }}
            >
              {t('back')}
            </button>
          )}
          {isRunning ? (
            <button type="button" className="button" onClick={stop}>
              {t('import.stop')}
            </button>
          ) : (
            <button type="button" className={isOver ? 'button primary' : 'button'} onClick={onClose}>
              {t(isOver ? 'done' : 'cancel')}
            </button>
          )}
          {chosen && !outcome && (
            <button
              type="button"
              className="button primary"
              disabled={mapping.phone === ''}
              onClick={() => void run(rows(), true)}
            >
              {t('import.check')}
            </button>
          )}
          {outcome?.step === 'checked' && (
            <button
              type="button"
              className="button primary"
              disabled={outcome.created === 0}
              onClick={() => void importAll()}
            >
              {t('import.start', { count: outcome.created })}
            </button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

function Counts({ outcome }: { readonly outcome: NonNullable<ReturnType<typeof useImport>['outcome']> }) {
  const { t, language } = useTexts();
  const isDone = outcome.step !== 'checked';
  const figures = [
    ['good', isDone ? 'import.created' : 'import.new', outcome.created],
    ['', 'import.existing', outcome.skipped],
    ['danger', 'import.faulty', outcome.errors.length],
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

/** The contacts of the rows; an empty cell is no value. Rows with more values than columns are marked: their values may be shifted. */
function rowsOf(table: CsvTable, mapping: Mapping<ImportField>, group: string): ImportRow[] {
  const places = FIELDS.flatMap(field =>
    mapping[field] === '' ? [] : [[field, table.columns.indexOf(mapping[field])] as const],
  );
  return table.rows.map((row, index) => {
    const columns = table.columns.length;
    const surplus = row.slice(columns).some(cell => cell.trim() !== '') ? { cells: row.length, columns } : undefined;
    const values = places.flatMap(([field, place]) => {
      const value = (row[place] ?? '').trim();
      return value === '' ? [] : [[field, value] as const];
    });
    const contact = { ...Object.fromEntries(values), ...(group !== '' && { groupNames: [group] }) };
    return { row: index + 1, contact, surplus };
  });
}

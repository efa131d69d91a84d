import { useId } from 'react';
import { useTexts } from '../texts/texts.tsx';
import type { CsvTable } from './csv-file.ts';

/** Which column has which field; an empty one has none. */
export type Mapping<Field extends string> = Readonly<Record<Field, string>>;

interface Props<Field extends string> {
  readonly table: CsvTable;
  readonly fields: readonly Field[];
  readonly mapping: Mapping<Field>;
  readonly labelOf: (field: Field) => string;
  readonly errorOf?: (field: Field) => string | undefined;
  readonly onChange: (mapping: Mapping<Field>) => void;
}

/** Chooses the column of each field, with the value of the first row beside it. */
export function ColumnMapping<Field extends string>({
  table,
  fields,
  mapping,
  labelOf,
  errorOf,
  onChange,
}: Props<Field>) {
  const { t } = useTexts();
  const id = useId();
  return (
    <div className="mapping">
      {fields.map(field => {
        const column = mapping[field];
        const example = column === '' ? '' : table.rows[0]?.[table.columns.indexOf(column)];
        const error = errorOf?.(field);
        return (
          <div key={field} className="field">
            <label htmlFor={`${id}-${field}`}>
              <span>{labelOf(field)}</span>
            </label>
            <select
              id={`${id}-${field}`}
              value={column}
              aria-invalid={error !== undefined || undefined}
              aria-describedby={`${id}-${field}-note`}
              onChange={event => onChange({ ...mapping, [field]: event.target.value })}
            >
              <option value="">{t('csv.noColumn')}</option>
              {table.columns.map(each => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
            <span id={`${id}-${field}-note`} className={error ? 'field-error' : 'muted small field-hint ellipsis'}>
              <bdi>{error ?? (example || ' ')}</bdi>
            </span>
          </div>
        );
      })}
    </div>
  );
}

import { useTexts } from '../texts/texts.tsx';
import { TableBox } from '../ui/table-box.tsx';
import type { CsvTable } from './csv-file.ts';

const SHOWN_ROWS = 4;

/** The first rows of a file; columns that are used stand out. */
export function CsvPreview({ table, used }: { readonly table: CsvTable; readonly used: readonly string[] }) {
  const { t } = useTexts();
  return (
    <TableBox label={t('csv.firstRows')} className="csv-preview">
      <table>
        <thead>
          <tr>
            {table.columns.map(column => (
              <th key={column} className={used.includes(column) ? 'is-used' : undefined}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, SHOWN_ROWS).map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a file do not move
            <tr key={index}>
              {table.columns.map((column, place) => (
                <td key={column} className={used.includes(column) ? 'cell-text is-used' : 'cell-text'}>
                  <bdi>{row[place]}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  );
}

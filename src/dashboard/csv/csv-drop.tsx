import { type DragEvent, useId, useState } from 'react';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import type { CsvTable } from './csv-file.ts';

interface Props {
  readonly hint: string;
  readonly onTable: (table: CsvTable, name: string) => void;
}

/** Where a CSV file is chosen or dropped. The parser is loaded with the first file. */
export function CsvDrop({ hint, onTable }: Props) {
  const { t } = useTexts();
  const id = useId();
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string>();
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const [{ decodeText, readCsv }, bytes] = await Promise.all([import('./csv-file.ts'), file.arrayBuffer()]);
    const table = readCsv(decodeText(bytes));
    setProblem(table ? undefined : t('csv.unreadable', { name: file.name }));
    if (table) onTable(table, file.name);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  };
  return (
    <div>
      <label
        htmlFor={id}
        className={isOver ? 'drop over' : 'drop'}
        onDragOver={event => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <Icon name="file" size={28} />
        <strong>{t('csv.choose')}</strong>
        <span className="muted small">{hint}</span>
        <input
          id={id}
          type="file"
          accept=".csv,text/csv,.txt,.tsv"
          className="visually-hidden"
          onChange={event => {
            void take(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
      </label>
      {problem !== undefined && (
        <p className="notice danger" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

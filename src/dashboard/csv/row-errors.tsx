import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';

export interface RowError {
  /** Number of the row, from 1, without the line of column names. */
  readonly row: number;
  readonly message: string;
}

const SHOWN = 50;

interface Props {
  readonly errors: readonly RowError[];
  /** Total, if not all of them are known. */
  readonly count: number;
  readonly onDownload?: (() => void) | undefined;
}

/** Rows that were left out, with their faults, to download and correct. */
export function RowErrors({ errors, count, onDownload }: Props) {
  const { t } = useTexts();
  if (count === 0) return null;
  return (
    <section className="row-errors">
      <header>
        <h3>{t('csv.faulty', { count })}</h3>
        {onDownload && (
          <button type="button" className="button small" onClick={onDownload}>
            <Icon name="download" size={16} /> {t('csv.downloadErrors')}
          </button>
        )}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the list is scrolled with the keyboard */}
      <ul className="error-list" tabIndex={0} aria-label={t('csv.faulty', { count })}>
        {errors.slice(0, SHOWN).map(({ row, message }) => (
          <li key={`${row} ${message}`}>
            <span className="muted">{t('csv.row', { row })}</span>
            <span>{message}</span>
          </li>
        ))}
        {count > SHOWN && <li className="muted">{t('csv.more', { count: count - SHOWN })}</li>}
      </ul>
    </section>
  );
}

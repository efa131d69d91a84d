import { type ReactNode, useId } from 'react';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly children: ReactNode;
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
}

/** A labelled choice, with its fault below. */
export function Select({ label, value, onChange, children, error, hint }: Props) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>
        <span>{label}</span>
      </label>
      <select
        id={id}
        value={value}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        onChange={event => onChange(event.target.value)}
      >
        {children}
      </select>
      {note !== undefined && (
        <span id={`${id}-note`} className={error === undefined ? 'muted small field-hint' : 'field-error'}>
          {note}
        </span>
      )}
    </div>
  );
}

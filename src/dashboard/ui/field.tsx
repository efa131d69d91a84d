import { useId } from 'react';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
  readonly rows?: number;
  readonly isReadOnly?: boolean;
  readonly isRequired?: boolean;
  /** Is not shown as it is typed, and not kept by the browser. */
  readonly isSecret?: boolean;
  readonly placeholder?: string;
}

const SECRET = { type: 'password', autoComplete: 'new-password' };

/** A labelled text field, with its fault below. */
export function Field({ label, value, onChange, error, hint, rows, isReadOnly, isRequired, ...more }: Props) {
  const { placeholder, isSecret = false } = more;
  const id = useId();
  const described = error !== undefined || hint !== undefined ? `${id}-note` : undefined;
  const shared = {
    id,
    value,
    placeholder,
    // By what is written: numbers and addresses read from left to right everywhere. An empty field has that of its placeholder.
    dir: value === '' ? undefined : 'auto',
    readOnly: isReadOnly,
    required: isRequired,
    'aria-invalid': error !== undefined || undefined,
    'aria-describedby': described,
  };
  return (
    <div className="field">
      <label htmlFor={id}>
        <span>{label}</span>
      </label>
      {rows === undefined ? (
        <input {...shared} {...(isSecret && SECRET)} onChange={event => onChange(event.target.value)} />
      ) : (
        <textarea {...shared} rows={rows} onChange={event => onChange(event.target.value)} />
      )}
      {described !== undefined && (
        <span id={described} className={error === undefined ? 'muted small field-hint' : 'field-error'}>
          {error ?? hint}
        </span>
      )}
    </div>
  );
}

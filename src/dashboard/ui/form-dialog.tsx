import type { FormEvent, ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from './dialog.tsx';
import { type UserError, UserErrors } from './user-errors.tsx';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** The word on the button that submits; default: "Save". */
  readonly action?: string;
  readonly isBusy: boolean;
  readonly errors: readonly UserError[];
  /** Says for which of `errors` a field of the form shows the message; the others stand below the fields. */
  readonly isShown?: (error: UserError) => boolean;
  readonly failure: CombinedError | undefined;
  readonly onSubmit: () => unknown;
  /** Replaces the form after a successful submission, if there is a result to read. */
  readonly done?: ReactNode;
  /** The fields. */
  readonly children: ReactNode;
  /** Stands beside the form: what it will look like. */
  readonly beside?: ReactNode;
}

/** A dialog with a form: its fields, the errors that belong to no field, and the buttons to cancel and submit. */
export function FormDialog({ title, onClose, isWide = false, children, beside, done, onSubmit, ...more }: Props) {
  const { t } = useTexts();
  const { action = t('save'), isBusy, errors, isShown = () => false, failure } = more;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit();
  };
  const form = (
    <form className="form" onSubmit={submit}>
      {children}
      <UserErrors errors={errors.filter(error => !isShown(error))} failure={failure} />
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          {t('cancel')}
        </button>
        <button type="submit" className="button primary" disabled={isBusy}>
          {action}
        </button>
      </div>
    </form>
  );
  return (
    <Dialog title={title} onClose={onClose} isWide={isWide}>
      {done ? (
        <div className="form">{done}</div>
      ) : beside === undefined ? (
        form
      ) : (
        <div className="form-and-preview">
          {form}
          {beside}
        </div>
      )}
    </Dialog>
  );
}

/** The errors at these fields of the input. */
export const atFields =
  (...fields: readonly string[]) =>
  ({ path }: UserError): boolean =>
    fields.includes(path?.[0] ?? '');

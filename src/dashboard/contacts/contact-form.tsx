import { type FormEvent, type ReactNode, useState } from 'react';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import type { UserError } from '../ui/user-errors.tsx';
import { errorsOf } from '../ui/user-errors.tsx';

export const CONTACT_FIELDS = [
  'firstName',
  'lastName',
  'phone',
  'email',
  'company',
  'address',
  'city',
  'description',
] as const;
export type ContactFieldName = (typeof CONTACT_FIELDS)[number];
export type ContactValues = Readonly<Record<ContactFieldName, string>>;

interface Props {
  readonly initial: ContactValues;
  readonly errors: readonly UserError[];
  readonly onSubmit: (values: ContactValues) => void;
  readonly isReadOnly?: boolean;
  readonly footer: ReactNode;
}

/** The fields of a contact; a fault stands below its field. */
export function ContactForm({ initial, errors, onSubmit, isReadOnly = false, footer }: Props) {
  const { t } = useTexts();
  const [values, setValues] = useState(initial);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit(values);
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      <div className="form-row">
        {CONTACT_FIELDS.map(name => (
          <Field
            key={name}
            label={t(`field.${name}`)}
            value={values[name]}
            error={errorsOf(errors, name)}
            isReadOnly={isReadOnly}
            onChange={value => setValues({ ...values, [name]: value })}
          />
        ))}
      </div>
      {footer}
    </form>
  );
}

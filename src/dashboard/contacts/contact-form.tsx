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

interface Edit {
  readonly typed: string;
  /** The value that the field had before, of this version of the contact. */
  readonly before: string;
  readonly version: string;
}

/** What was typed, by field. */
export type ContactEdits = Readonly<Partial<Record<ContactFieldName, Edit>>>;

interface Props {
  /** The contact's present values. Typed values stay when they change. */
  readonly initial: ContactValues;
  /** When the contact was changed last. */
  readonly version?: string;
  readonly errors: readonly UserError[];
  /** @returns whether the values were stored */
  readonly onSubmit: (values: ContactValues, edits: ContactEdits) => Promise<boolean>;
  readonly isReadOnly?: boolean;
  readonly footer: (isEdited: boolean) => ReactNode;
}

/** The fields of a contact, each with its fault below it. */
export function ContactForm({ initial, version = '', errors, onSubmit, isReadOnly = false, footer }: Props) {
  const { t } = useTexts();
  const [edits, setEdits] = useState<ContactEdits>({});
  const shownIn = (name: ContactFieldName): string => edits[name]?.typed ?? initial[name];
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const values = Object.fromEntries(CONTACT_FIELDS.map(name => [name, shownIn(name)])) as ContactValues;
    if (!(await onSubmit(values, edits))) return;
    // Values that were typed since are not stored yet.
    setEdits(now =>
      Object.fromEntries(Object.entries(now).filter(([name, edit]) => edit !== edits[name as ContactFieldName])),
    );
  };
  return (
    <form className="form" onSubmit={event => void submit(event)} noValidate>
      <div className="form-row">
        {CONTACT_FIELDS.map(name => (
          <Field
            key={name}
            label={t(`field.${name}`)}
            value={shownIn(name)}
            error={errorsOf(errors, name)}
            isReadOnly={isReadOnly}
            onChange={typed =>
              setEdits(now => ({ ...now, [name]: { before: initial[name], version, ...now[name], typed } }))
            }
          />
        ))}
      </div>
      {footer(Object.keys(edits).length > 0)}
    </form>
  );
}

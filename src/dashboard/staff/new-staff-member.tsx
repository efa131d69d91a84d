import { type FormEvent, useState } from 'react';
import { useMutation } from 'urql';
import { CreateStaffMemberDocument, type StaffRole } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';
import { ROLES } from './roles.ts';

/** A person who works with the account. They act through sessions, which the page or a backend creates. */
export function NewStaffMember({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateStaffMemberDocument);
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<StaffRole>('AGENT');
  const errors = data?.createStaffMember?.userErrors ?? [];
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const result = await create({ input: { name, email, role } });
    if (result.data?.createStaffMember?.staffMember) onClose();
  };
  return (
    <Dialog title={t('staff.new')} onClose={onClose}>
      <form className="form" onSubmit={event => void submit(event)}>
        <Field label={t('name')} value={name} onChange={setName} error={errorsOf(errors, 'name')} isRequired />
        <Field
          label={t('field.email')}
          value={email}
          onChange={setEmail}
          error={errorsOf(errors, 'email')}
          isRequired
        />
        <label className="field">
          <span>{t('staff.role')}</span>
          <select value={role} onChange={event => setRole(event.target.value as StaffRole)}>
            {ROLES.map(each => (
              <option key={each} value={each}>
                {t(`role.${each}`)}
              </option>
            ))}
          </select>
          <span className="muted small field-hint">{t(`staff.may.${role}`)}</span>
        </label>
        <UserErrors
          errors={errors.filter(({ path }) => !['name', 'email'].includes(path?.[0] ?? ''))}
          failure={error}
        />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary" disabled={fetching}>
            {t('save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

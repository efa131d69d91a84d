import { useState } from 'react';
import { useMutation } from 'urql';
import { CreateStaffMemberDocument, type StaffRole } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { atFields, FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { errorsOf } from '../ui/user-errors.tsx';
import { ROLES } from './roles.ts';

/** A person who works with the account. They act through sessions, which the page or a backend creates. */
export function NewStaffMember({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateStaffMemberDocument);
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<StaffRole>('AGENT');
  const errors = data?.createStaffMember?.userErrors ?? [];
  const submit = async (): Promise<void> => {
    const result = await create({ input: { name, email, role } });
    if (result.data?.createStaffMember?.staffMember) onClose();
  };
  return (
    <FormDialog
      title={t('staff.new')}
      onClose={onClose}
      onSubmit={submit}
      isBusy={fetching}
      errors={errors}
      isShown={atFields('name', 'email', 'role')}
      failure={error}
    >
      <Field label={t('name')} value={name} onChange={setName} error={errorsOf(errors, 'name')} isRequired />
      <Field label={t('field.email')} value={email} onChange={setEmail} error={errorsOf(errors, 'email')} isRequired />
      <Select
        label={t('staff.role')}
        value={role}
        onChange={value => setRole(value as StaffRole)}
        error={errorsOf(errors, 'role')}
        hint={t(`staff.may.${role}`)}
      >
        {ROLES.map(each => (
          <option key={each} value={each}>
            {t(`role.${each}`)}
          </option>
        ))}
      </Select>
    </FormDialog>
  );
}

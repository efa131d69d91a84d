import { useMutation } from 'urql';
import { CreateContactDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { CONTACT_FIELDS, ContactForm, type ContactValues } from './contact-form.tsx';

interface Props {
  readonly onClose: () => void;
  readonly onCreated: (databaseId: string) => void;
}

const EMPTY = Object.fromEntries(CONTACT_FIELDS.map(name => [name, ''])) as ContactValues;

export function NewContact({ onClose, onCreated }: Props) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateContactDocument);
  const errors = data?.createContact?.userErrors ?? [];
  const submit = async ({ phone, ...values }: ContactValues): Promise<boolean> => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
    const { data: made } = await create({ input: { phone, ...given } });
    const contact = made?.createContact?.contact;
    if (contact) onCreated(contact.databaseId);
    return contact != null;
  };
  return (
    <Dialog title={t('contacts.new')} onClose={onClose}>
      <ContactForm
        initial={EMPTY}
        errors={errors}
        onSubmit={submit}
        footer={() => (
          <>
            <UserErrors
              errors={errors.filter(({ path }) => !CONTACT_FIELDS.some(name => name === path?.[0]))}
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
          </>
        )}
      />
    </Dialog>
  );
}

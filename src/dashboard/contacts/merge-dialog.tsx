import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { type ContactCoreFragment, MergeContactsDocument, PreviewMergeDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { UserErrors } from '../ui/user-errors.tsx';

interface Props {
  readonly contacts: readonly ContactCoreFragment[];
  readonly onClose: () => void;
  readonly onMerged: (databaseId: string) => void;
}

/** Makes one contact of several, after showing what becomes of their fields. */
export function MergeDialog({ contacts, onClose, onMerged }: Props) {
  const { t } = useTexts();
  const [survivor, setSurvivor] = useState(contacts[0]?.id ?? '');
  const input = { id: survivor, fromIds: contacts.filter(({ id }) => id !== survivor).map(({ id }) => id) };
  const [{ data }] = useQuery({ query: PreviewMergeDocument, variables: { input }, requestPolicy: 'network-only' });
  const [merged, merge] = useMutation(MergeContactsDocument);
  const preview = data?.previewMerge;
  const submit = async (): Promise<void> => {
    const { data: done } = await merge({ input });
    const contact = done?.mergeContacts?.contact;
    if (contact) onMerged(contact.databaseId);
  };
  return (
    <Dialog title={t('contacts.merge', { count: contacts.length })} onClose={onClose}>
      <div className="form">
        <label className="field">
          <span>{t('contacts.survivor')}</span>
          <select value={survivor} onChange={event => setSurvivor(event.target.value)}>
            {contacts.map(({ id, displayName, phone }) => (
              <option key={id} value={id}>
                {displayName} {phone}
              </option>
            ))}
          </select>
        </label>
        <ul className="facts">
          {preview?.fields.map(({ name, value, alternatives }) => (
            <li key={name}>
              <span className="muted">{name}</span>
              <span>{value}</span>
              <s className="muted small">{alternatives.join(', ')}</s>
            </li>
          ))}
          {preview?.moved.map(({ kind, count }) => (
            <li key={kind}>
              <span className="muted">{kind}</span>
              <span>{count}</span>
            </li>
          ))}
        </ul>
        <p className="muted small">{t('contacts.mergeUndo')}</p>
        <UserErrors
          errors={[...(preview?.userErrors ?? []), ...(merged.data?.mergeContacts?.userErrors ?? [])]}
          failure={merged.error}
        />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="button" className="button primary" disabled={merged.fetching} onClick={() => void submit()}>
            {t('contacts.mergeNow')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

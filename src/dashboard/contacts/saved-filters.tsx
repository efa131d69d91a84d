import { type FormEvent, useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  type ContactFilter,
  CreateSavedFilterDocument,
  DeleteSavedFilterDocument,
  type SavedFilterItemFragment,
  SavedFiltersDocument,
  UpdateSavedFilterDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';
import { isSame } from './contact-filter.ts';

interface Props {
  readonly filter: ContactFilter;
  readonly onChoose: (filter: ContactFilter) => void;
}

/** The account's saved filters: choose one, or save, change or delete the present one. */
export function SavedFilters({ filter, onChoose }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const [{ data }, refetch] = useQuery({ query: SavedFiltersDocument, requestPolicy: 'cache-and-network' });
  const [removed, remove] = useMutation(DeleteSavedFilterDocument);
  const [lastId, setLastId] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const saved = data?.savedFilters?.nodes ?? [];
  const reload = (): void => refetch({ requestPolicy: 'network-only' });
  const current = saved.find(each => isSame(each.filter, filter));
  const last = saved.find(({ id }) => id === lastId);
  const isEmpty = Object.keys(filter).length === 0;
  const mayWrite = can('CONTACTS_WRITE');
  if (saved.length === 0 && (isEmpty || !mayWrite)) return null;
  return (
    <div className="saved-filters">
      {saved.length > 0 && (
        <select
          aria-label={t('savedFilter.choose')}
          value={current?.id ?? ''}
          onChange={event => {
            const chosen = saved.find(({ id }) => id === event.target.value);
            setLastId(chosen?.id);
            onChoose((chosen?.filter as ContactFilter | undefined) ?? {});
          }}
        >
          <option value="">{t(isEmpty || current ? 'savedFilter.choose' : 'savedFilter.unsaved')}</option>
          {saved.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {mayWrite && !isEmpty && !current && (
        <button type="button" className="button small" onClick={() => setSaving(true)}>
          <Icon name="check" size={16} /> {t('savedFilter.save')}
        </button>
      )}
      {mayWrite && current && (
        <ConfirmButton
          className="icon-button small"
          label={t('deleteOf', { name: current.name })}
          question={t('deleteTitle', { name: current.name })}
          consequence={t('savedFilter.deleteText')}
          action={t('delete')}
          onConfirm={() => remove({ input: { id: current.id } }).then(reload)}
        >
          <Icon name="trash" size={16} />
        </ConfirmButton>
      )}
      <UserErrors errors={removed.data?.deleteSavedFilter?.userErrors ?? []} failure={removed.error} />
      {isSaving && (
        <SaveDialog
          filter={filter}
          last={last}
          onClose={() => setSaving(false)}
          onSaved={id => {
            setLastId(id);
            setSaving(false);
            reload();
          }}
        />
      )}
    </div>
  );
}

interface SaveProps {
  readonly filter: ContactFilter;
  /** The one that was chosen before the filter was changed. */
  readonly last: SavedFilterItemFragment | undefined;
  readonly onClose: () => void;
  readonly onSaved: (id: string) => void;
}

function SaveDialog({ filter, last, onClose, onSaved }: SaveProps) {
  const { t } = useTexts();
  const [created, create] = useMutation(CreateSavedFilterDocument);
  const [updated, update] = useMutation(UpdateSavedFilterDocument);
  const [name, setName] = useState('');
  const errors = created.data?.createSavedFilter?.userErrors ?? updated.data?.updateSavedFilter?.userErrors ?? [];
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const { data } = await create({ input: { name, filter } });
    const id = data?.createSavedFilter?.savedFilter?.id;
    if (id) onSaved(id);
  };
  const replace = async (id: string): Promise<void> => {
    const { data } = await update({ input: { id, filter } });
    if (data?.updateSavedFilter?.savedFilter) onSaved(id);
  };
  return (
    <Dialog title={t('savedFilter.save')} onClose={onClose}>
      <form className="form" onSubmit={event => void submit(event)}>
        <p className="muted">{t('savedFilter.hint')}</p>
        <Field label={t('name')} value={name} onChange={setName} error={errorsOf(errors, 'name')} isRequired />
        <UserErrors
          errors={errors.filter(({ path }) => path?.[0] !== 'name')}
          failure={created.error ?? updated.error}
        />
        <div className="dialog-foot">
          {last && (
            <button type="button" className="button" onClick={() => void replace(last.id)}>
              {t('savedFilter.replace', { name: last.name })}
            </button>
          )}
          <button type="submit" className="button primary" disabled={created.fetching || updated.fetching}>
            {t('save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

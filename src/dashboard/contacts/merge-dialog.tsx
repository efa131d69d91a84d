import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  type ContactCoreFragment,
  MergeContactsDocument,
  PreviewMergeDocument,
  type PreviewMergeQuery,
} from '../documents.generated.ts';
import { isTextKey, useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TableBox } from '../ui/table-box.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { useDataKinds } from './data-kinds.ts';

interface Props {
  readonly contacts: readonly ContactCoreFragment[];
  readonly onClose: () => void;
  readonly onMerged: (databaseId: string) => void;
}

/** Merges contacts, after a preview of the resulting fields. */
export function MergeDialog({ contacts, onClose, onMerged }: Props) {
  const { t, language } = useTexts();
  const nameOf = useDataKinds();
  const [survivor, setSurvivor] = useState(contacts[0]?.id ?? '');
  const input = { id: survivor, fromIds: contacts.filter(({ id }) => id !== survivor).map(({ id }) => id) };
  const [{ data }] = useQuery({
    query: PreviewMergeDocument,
    variables: { input, ids: contacts.map(({ id }) => id) },
    requestPolicy: 'network-only',
  });
  const [merged, merge] = useMutation(MergeContactsDocument);
  const preview = data?.previewMerge;
  // Leaves out fields without a value, and those in which the contacts agree.
  const shown = (preview?.fields ?? []).filter(
    ({ name, value, alternatives }) => alternatives.length > 0 || (value !== null && !name.endsWith('Id')),
  );
  const moved = (preview?.moved ?? []).filter(({ count }) => count > 0);
  const labelOf = (name: string): string => {
    const key = `field.${name.replace(/Id$/, '')}`;
    return t(isTextKey(key) ? key : 'field.other');
  };
  const words = new Map((data?.contacts?.nodes ?? []).flatMap(contact => wordsOf(contact, language)));
  const wordOf = (name: string, value: string): string => {
    const key = `contactType.${value.toUpperCase()}`;
    return name === 'type' && isTextKey(key) ? t(key) : (words.get(`${name} ${value}`) ?? value);
  };
  const submit = async (): Promise<void> => {
    const { data: done } = await merge({ input });
    const contact = done?.mergeContacts?.contact;
    if (contact) onMerged(contact.databaseId);
  };
  return (
    <Dialog title={t('contacts.merge', { count: contacts.length })} onClose={onClose} isWide>
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
        {shown.length > 0 && (
          <TableBox label={t('contacts.mergeField')}>
            <table className="merge-fields">
              <thead>
                <tr>
                  <th>{t('contacts.mergeField')}</th>
                  <th>{t('contacts.mergeKept')}</th>
                  <th>{t('contacts.mergeDropped')}</th>
                </tr>
              </thead>
              <tbody>
                {shown.map(({ name, value, alternatives }) => (
                  <tr key={name}>
                    <td className="muted">{labelOf(name)}</td>
                    <td>
                      <bdi>{value !== null && wordOf(name, value)}</bdi>
                    </td>
                    <td className="muted">
                      <bdi>
                        <s>{alternatives.map(each => wordOf(name, each)).join(', ')}</s>
                      </bdi>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TableBox>
        )}
        {moved.length > 0 && (
          <p className="small">
            {t('contacts.mergeMoved')}{' '}
            <span className="muted">
              {moved.map(({ kind, count }) => t('dataKind.counted', { kind: nameOf(kind), count })).join(', ')}
            </span>
          </p>
        )}
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

type Labelled = NonNullable<PreviewMergeQuery['contacts']>['nodes'][number];

/** Names of the objects that contacts refer to, by field and key: the preview has only the keys. */
function wordsOf({ source, status, assignee, country }: Labelled, language: string): [string, string][] {
  const words: [string, string][] = [];
  if (source) words.push([`sourceId ${source.databaseId}`, source.name]);
  if (status) words.push([`statusId ${status.databaseId}`, status.name]);
  if (assignee) words.push([`assigneeId ${assignee.databaseId}`, assignee.name]);
  const nameOf = new Intl.DisplayNames(language, { type: 'region' });
  if (country) words.push([`country ${country.numericCode}`, nameOf.of(country.alpha2) ?? country.alpha2]);
  return words;
}

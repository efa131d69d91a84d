import { useDeferredValue, useState } from 'react';
import { useQuery } from 'urql';
import { conditionsOf } from '../contacts/contact-filter.ts';
import { FilterEditor } from '../contacts/filter-editor.tsx';
import { SavedFilters } from '../contacts/saved-filters.tsx';
import {
  CampaignAudienceCountDocument,
  CampaignContactSearchDocument,
  CampaignGroupsDocument,
  type CampaignGroupsQuery,
  type ContactFilter,
} from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useAll } from '../ui/use-all.ts';
import { errorsOf, type UserError, UserErrors } from '../ui/user-errors.tsx';
import { AUDIENCES, type CampaignDraft, phonesOf } from './campaign-draft.ts';
import { ListChooser } from './list-chooser.tsx';

interface Props {
  readonly draft: CampaignDraft;
  readonly errors: readonly UserError[];
  readonly onChange: (changes: Partial<CampaignDraft>) => void;
}

/** Form of the audience: groups, a filter, single people, or an uploaded list. */
export function AudienceSection({ draft, errors, onChange }: Props) {
  const { t } = useTexts();
  const error = errorsOf(errors, 'audience');
  return (
    <section className="card">
      <h2>{t('audience.title')}</h2>
      <fieldset className="choices four" aria-label={t('audience.title')}>
        {AUDIENCES.map(kind => (
          <label key={kind} className="choice-card">
            <input type="radio" name="audience" checked={draft.kind === kind} onChange={() => onChange({ kind })} />
            <span>
              <strong>{t(`audience.${kind}`)}</strong>
              <span className="muted small">{t(`audience.${kind}Hint`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {draft.kind === 'groups' && <GroupChoice draft={draft} onChange={onChange} />}
      {draft.kind === 'filter' && <FilterChoice filter={draft.filter} onChange={filter => onChange({ filter })} />}
      {draft.kind === 'contacts' && <ContactChoice draft={draft} onChange={onChange} />}
      {draft.kind === 'list' && <ListChooser list={draft.list} onChange={list => onChange({ list })} />}
      {error && <p className="field-error">{error}</p>}
    </section>
  );
}

const groupsOf = ({ contactGroups }: CampaignGroupsQuery) => contactGroups;

function GroupChoice({ draft, onChange }: Omit<Props, 'errors'>) {
  const { t, language } = useTexts();
  const {
    rows: groups = [],
    isBusy,
    error,
  } = useAll({
    query: CampaignGroupsDocument,
    connectionOf: groupsOf,
    isFresh: true,
  });
  if (error) return <UserErrors failure={error} />;
  if (groups.length === 0) return <p className="muted">{isBusy ? '…' : t('audience.noGroups')}</p>;
  return (
    <fieldset className="checks" aria-label={t('contacts.groups')}>
      {groups.map(({ id, name, contactsCount }) => (
        <label key={id} className="check">
          <input
            type="checkbox"
            checked={draft.groupIds.includes(id)}
            onChange={event =>
              onChange({
                groupIds: event.target.checked ? [...draft.groupIds, id] : draft.groupIds.filter(each => each !== id),
              })
            }
          />
          <span className="check-text">
            <span className="ellipsis" dir="auto">
              {name}
            </span>
            <span className="muted small">{contactsCount?.toLocaleString(language)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface FilterProps {
  readonly filter: ContactFilter;
  readonly onChange: (filter: ContactFilter) => void;
}

/** A filter, written here or saved before, with the number of contacts that it finds now. */
function FilterChoice({ filter, onChange }: FilterProps) {
  const { t } = useTexts();
  const counted = useDeferredValue(filter);
  const [{ data }] = useQuery({
    query: CampaignAudienceCountDocument,
    variables: { filter: counted },
    requestPolicy: 'cache-and-network',
  });
  const [version, setVersion] = useState(0);
  return (
    <div className="form">
      <SavedFilters
        filter={filter}
        onChoose={chosen => {
          setVersion(version + 1);
          onChange(chosen);
        }}
      />
      <FilterEditor key={version} filter={filter} onChange={onChange} />
      <p className="audience-count">
        {data?.contacts && t('audience.found', { count: data.contacts.totalCount })}
        {conditionsOf(filter)?.length === 0 && <span className="muted"> {t('audience.everybody')}</span>}
      </p>
    </div>
  );
}

function ContactChoice({ draft, onChange }: Omit<Props, 'errors'>) {
  const { t } = useTexts();
  const [search, setSearch] = useState('');
  const wanted = useDeferredValue(search.trim());
  const [{ data }] = useQuery({
    query: CampaignContactSearchDocument,
    variables: { search: wanted },
    pause: wanted === '',
  });
  const found = wanted === '' ? [] : (data?.contacts?.nodes ?? []);
  const others = found.filter(({ id }) => !draft.contacts.some(contact => contact.id === id));
  const count = draft.contacts.length + phonesOf(draft.phones).length;
  return (
    <div className="form">
      {draft.keptContacts > 0 && count === 0 && (
        <p className="notice">{t('audience.kept', { count: draft.keptContacts })}</p>
      )}
      <div className="picker">
        <label className="field">
          <span>{t('audience.findContact')}</span>
          <input type="search" value={search} onChange={event => setSearch(event.target.value)} />
        </label>
        {others.length > 0 && (
          <ul className="picker-list">
            {others.map(contact => (
              <li key={contact.id}>
                <button
                  type="button"
                  className="menu-item"
                  onClick={() => {
                    onChange({ contacts: [...draft.contacts, contact] });
                    setSearch('');
                  }}
                >
                  {contact.displayName} <bdi className="muted small">{contact.phone}</bdi>
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      {draft.contacts.length > 0 && (
        <div className="tags">
          {draft.contacts.map(({ id, displayName }) => (
            <span key={id} className="tag">
              {displayName}
              <button
                type="button"
                aria-label={t('audience.remove', { name: displayName })}
                onClick={() => onChange({ contacts: draft.contacts.filter(contact => contact.id !== id) })}
              >
                <Icon name="close" size={12} />
              </button>
            </span>
          ))}
        </div>
      )}
      <label className="field">
        <span>{t('audience.phones')}</span>
        <textarea
          rows={3}
          placeholder={'+14155550123\n+491701234567'}
          value={draft.phones}
          onChange={event => onChange({ phones: event.target.value })}
        />
        <span className="muted small field-hint">{t('audience.phonesHint')}</span>
      </label>
    </div>
  );
}

import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { Link, useLocation, useSearchParams } from 'wouter';
import { type ContactCoreFragment, ContactCountDocument, type ContactOrder } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { conditionsOf, readFilter, writeFilter } from './contact-filter.ts';
import { ContactList, type ContactQuery } from './contact-list.tsx';
import { ContactPanel } from './contact-panel.tsx';
import { ContactsEmpty } from './contacts-empty.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { FilterEditor } from './filter-editor.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { MergeDialog } from './merge-dialog.tsx';
import { NewContact } from './new-contact.tsx';
import { SavedFilters } from './saved-filters.tsx';

const ORDERS = {
  newest: { field: 'ID', direction: 'DESC' },
  oldest: { field: 'ID', direction: 'ASC' },
  name: { field: 'FIRST_NAME', direction: 'ASC' },
  lastName: { field: 'LAST_NAME', direction: 'ASC' },
  changed: { field: 'UPDATED_AT', direction: 'DESC' },
} as const satisfies Record<string, ContactOrder>;
const ORDER_NAMES = Object.keys(ORDERS) as readonly (keyof typeof ORDERS)[];

type DialogName = 'new' | 'merge' | 'import' | 'export';

/** All contacts. Search, filter (as the API's JSON) and order are in the URL, so that a view can be bookmarked and shared. */
export default function Contacts({ id }: { readonly id: string | undefined }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const [params, setParams] = useSearchParams();
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<DialogName>();
  const [selected, setSelected] = useState<ReadonlyMap<string, ContactCoreFragment>>(new Map());
  const search = params.get('q') ?? '';
  const filterText = params.get('filter');
  const order = ORDER_NAMES.find(name => name === params.get('order')) ?? 'newest';
  const query = useMemo<ContactQuery>(
    () => ({ search: search || undefined, filter: readFilter(filterText), orderBy: [ORDERS[order]] }),
    [search, filterText, order],
  );
  const [isFiltering, setFiltering] = useState(filterText !== null);
  const [version, setVersion] = useState(0);
  const [{ data, fetching, error }, refetch] = useQuery({
    query: ContactCountDocument,
    variables: { search: query.search, filter: query.filter },
    requestPolicy: 'cache-and-network',
  });
  const total = data?.contacts?.totalCount ?? 0;
  const set = useCallback(
    (key: string, value: string) =>
      setParams(
        before => {
          const next = new URLSearchParams(before);
          if (value === '') next.delete(key);
          else next.set(key, value);
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
  const [text, setText] = useState(search);
  const written = useRef(search);
  useEffect(() => {
    // A link or the browser's history changed the address, not the field.
    if (search !== written.current) setText(search);
    written.current = search;
  }, [search]);
  useEffect(() => {
    if (text.trim() === search) return;
    const timer = setTimeout(() => {
      written.current = text.trim();
      set('q', text.trim());
    }, 250);
    return () => clearTimeout(timer);
  }, [text, search, set]);
  const open = (contactId: string | undefined): void => {
    const rest = params.toString();
    navigate(`/contacts${contactId === undefined ? '' : `/${contactId}`}${rest ? `?${rest}` : ''}`);
  };
  const close = (): void => setDialog(undefined);
  const refresh = (): void => {
    setVersion(before => before + 1);
    refetch({ requestPolicy: 'network-only' });
  };
  const isNarrowed = search !== '' || Object.keys(query.filter).length > 0;
  const conditions = conditionsOf(query.filter)?.length ?? 1;
  const chosen = [...selected.values()];
  const campaignFilter = chosen.length > 0 ? { id: { in: chosen.map(contact => contact.id) } } : query.filter;
  return (
    <div className={id === undefined ? 'split' : 'split has-panel'}>
      <Page
        title={t('nav.contacts')}
        lead={data ? t('contacts.count', { count: total }) : '…'}
        isFilled
        actions={
          <>
            {can('CONTACTS_WRITE') && (
              <button type="button" className="button" onClick={() => setDialog('import')}>
                <Icon name="upload" size={17} /> {t('import.open')}
              </button>
            )}
            {can('CONTACTS_EXPORT', 'CONTACTS_READ') && (
              <button type="button" className="button" onClick={() => setDialog('export')}>
                <Icon name="download" size={17} /> {t('export.open')}
              </button>
            )}
            {can('CONTACTS_WRITE') && (
              <button type="button" className="button primary" onClick={() => setDialog('new')}>
                <Icon name="plus" size={17} /> {t('contacts.new')}
              </button>
            )}
          </>
        }
      >
        <div className="toolbar">
          <SearchField label={t('contacts.search')} value={text} onChange={setText} />
          <button
            type="button"
            className="button"
            aria-expanded={isFiltering}
            onClick={() => setFiltering(!isFiltering)}
          >
            <Icon name="filter" size={17} /> {t('filter.title')}
            {conditions > 0 && <span className="badge">{conditions}</span>}
          </button>
          <select aria-label={t('contacts.order')} value={order} onChange={event => set('order', event.target.value)}>
            {ORDER_NAMES.map(name => (
              <option key={name} value={name}>
                {t(`order.${name}`)}
              </option>
            ))}
          </select>
          {can('CAMPAIGNS_WRITE', 'MESSAGES_SEND') && (isNarrowed || chosen.length > 0) && search === '' && (
            <Link href={`/campaigns/new?filter=${encodeURIComponent(writeFilter(campaignFilter))}`} className="button">
              <Icon name="campaigns" size={17} /> {t('contacts.toCampaign', { count: chosen.length || total })}
            </Link>
          )}
          {chosen.length > 0 && (
            <span className="toolbar-selection">
              <span className="muted">{t('contacts.selected', { count: chosen.length })}</span>
              {chosen.length > 1 && (
                <button type="button" className="button" onClick={() => setDialog('merge')}>
                  <Icon name="merge" size={17} /> {t('contacts.merge', { count: chosen.length })}
                </button>
              )}
              <button type="button" className="button quiet" onClick={() => setSelected(new Map())}>
                {t('contacts.unselect')}
              </button>
            </span>
          )}
        </div>
        {isFiltering && (
          <div className="filter-box">
            <SavedFilters filter={query.filter} onChoose={filter => set('filter', writeFilter(filter))} />
            <FilterEditor filter={query.filter} onChange={filter => set('filter', writeFilter(filter))} />
          </div>
        )}
        {error && <UserErrors failure={error} />}
        {total === 0 && data && !fetching ? (
          <ContactsEmpty
            isNarrowed={isNarrowed}
            onImport={can('CONTACTS_WRITE') ? () => setDialog('import') : undefined}
          />
        ) : (
          <ContactList
            query={query}
            total={total}
            version={version}
            openId={id}
            selected={selected}
            onOpen={open}
            onSelect={
              can('CONTACTS_WRITE')
                ? (contact, isSelected) =>
                    setSelected(before => {
                      const next = new Map(before);
                      if (isSelected) next.set(contact.id, contact);
                      else next.delete(contact.id);
                      return next;
                    })
                : undefined
            }
          />
        )}
      </Page>
      {id !== undefined && (
        <ContactPanel key={id} id={id} onClose={() => open(undefined)} onOpen={open} onGone={refresh} />
      )}
      {dialog === 'new' && (
        <NewContact
          onClose={close}
          onCreated={created => {
            close();
            refresh();
            open(created);
          }}
        />
      )}
      {dialog === 'merge' && (
        <MergeDialog
          contacts={chosen}
          onClose={close}
          onMerged={survivor => {
            close();
            setSelected(new Map());
            refresh();
            open(survivor);
          }}
        />
      )}
      {dialog === 'import' && <ImportDialog onClose={close} onImported={refresh} />}
      {dialog === 'export' && (
        <ExportDialog
          filter={chosen.length > 0 ? campaignFilter : query.filter}
          hasSearch={search !== ''}
          onClose={close}
        />
      )}
    </div>
  );
}

import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { useLocation, useSearchParams } from 'wouter';
import { type ContactFilter, type ContactOrder, ContactsDocument, type ContactType } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';
import { Example } from '../ui/example.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { ContactPanel } from './contact-panel.tsx';
import { MergeDialog } from './merge-dialog.tsx';
import { NewContact } from './new-contact.tsx';

const PAGE = 100;
const ROW_PX = 56;
const TYPES = ['LEAD', 'CUSTOMER', 'GUEST'] as const satisfies readonly ContactType[];
const ORDERS: Readonly<Record<string, ContactOrder>> = {
  name: { field: 'FIRST_NAME', direction: 'ASC' },
  newest: { field: 'ID', direction: 'DESC' },
  changed: { field: 'UPDATED_AT', direction: 'DESC' },
};

/** All contacts, however many: only the rows in view are on the page. Search, filter and order are in the address. */
export default function Contacts({ id }: { readonly id: string | undefined }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const [params, setParams] = useSearchParams();
  const [, navigate] = useLocation();
  const [isNew, setNew] = useState(false);
  const [isMerging, setMerging] = useState(false);
  const [selected, setSelected] = useState<readonly string[]>([]);
  const search = params.get('q') ?? '';
  const type = TYPES.find(each => each === params.get('type')?.toUpperCase());
  const order = params.get('order') ?? 'newest';
  const [text, setText] = useState(search);
  const variables = useMemo(() => {
    const filter: ContactFilter = type ? { type: { eq: type } } : {};
    return { first: PAGE, search: search || undefined, filter, orderBy: ORDERS[order] ? [ORDERS[order]] : undefined };
  }, [search, type, order]);
  const [{ data, fetching, error }, refetch] = useQuery({
    query: ContactsDocument,
    variables,
    requestPolicy: 'cache-and-network',
  });
  const contacts = data?.contacts?.nodes ?? [];
  const { hasNextPage, endCursor } = data?.contacts?.pageInfo ?? {};
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
  useEffect(() => {
    if (text === search) return;
    const timer = setTimeout(() => set('q', text.trim()), 250);
    return () => clearTimeout(timer);
  }, [text, search, set]);

  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: contacts.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const graphql = useClient();
  const lastIndex = rows.getVirtualItems().at(-1)?.index ?? 0;
  const isLoading = useRef<string>(undefined);
  useEffect(() => {
    if (!hasNextPage || !endCursor || lastIndex < contacts.length - 20 || isLoading.current === endCursor) return;
    isLoading.current = endCursor;
    void graphql.query(ContactsDocument, { ...variables, after: endCursor }).toPromise();
  }, [graphql, variables, hasNextPage, endCursor, lastIndex, contacts.length]);
  const query = params.toString();
  const open = (contactId: string | undefined): void =>
    navigate(`/contacts${contactId === undefined ? '' : `/${contactId}`}${query ? `?${query}` : ''}`);
  const chosen = contacts.filter(contact => selected.includes(contact.id));
  return (
    <div className={id === undefined ? 'split' : 'split has-panel'}>
      <Page
        title={t('nav.contacts')}
        lead={t('contacts.count', { count: total })}
        isFilled
        actions={
          can('CONTACTS_WRITE') && (
            <>
              {selected.length > 1 && (
                <button type="button" className="button" onClick={() => setMerging(true)}>
                  <Icon name="merge" size={17} /> {t('contacts.merge', { count: selected.length })}
                </button>
              )}
              <button type="button" className="button primary" onClick={() => setNew(true)}>
                <Icon name="plus" size={17} /> {t('contacts.new')}
              </button>
            </>
          )
        }
      >
        <div className="toolbar">
          <label className="search">
            <Icon name="search" size={17} />
            <span className="visually-hidden">{t('contacts.search')}</span>
            <input
              type="search"
              placeholder={t('contacts.search')}
              value={text}
              onChange={event => setText(event.target.value)}
            />
          </label>
          <select
            aria-label={t('contacts.type')}
            value={type ?? ''}
            onChange={event => set('type', event.target.value)}
          >
            <option value="">{t('contacts.anyType')}</option>
            {TYPES.map(each => (
              <option key={each} value={each}>
                {t(`contactType.${each}`)}
              </option>
            ))}
          </select>
          <select aria-label={t('contacts.order')} value={order} onChange={event => set('order', event.target.value)}>
            <option value="newest">{t('contacts.newest')}</option>
            <option value="name">{t('contacts.byName')}</option>
            <option value="changed">{t('contacts.byChange')}</option>
          </select>
        </div>
        {error && !data && <p className="notice danger">{error.message}</p>}
        {contacts.length === 0 && !fetching ? (
          <div className="empty">
            <p>{search || type ? t('contacts.noMatch') : t('contacts.none')}</p>
            {!search && !type && (
              <Example
                text={`curl ${location.origin}/api/v2/contacts -H "Authorization: Bearer $TOKEN" \\\n  -H 'Content-Type: application/json' -d '{ "phone": "+14155550123", "first_name": "Ana" }'`}
              />
            )}
          </div>
        ) : (
          <div className="rows" ref={scroller}>
            <ul style={{ height: rows.getTotalSize() }} aria-label={t('nav.contacts')}>
              {rows.getVirtualItems().map(({ index, start }) => {
                const contact = contacts[index];
                return (
                  contact && (
                    <li key={contact.id} className="contact-row" style={{ transform: `translateY(${start}px)` }}>
                      {can('CONTACTS_WRITE') && (
                        <input
                          type="checkbox"
                          aria-label={t('contacts.select', { name: contact.displayName })}
                          checked={selected.includes(contact.id)}
                          onChange={event =>
                            setSelected(
                              event.target.checked
                                ? [...selected, contact.id]
                                : selected.filter(each => each !== contact.id),
                            )
                          }
                        />
                      )}
                      <button
                        type="button"
                        aria-current={contact.databaseId === id ? 'true' : undefined}
                        onClick={() => open(contact.databaseId)}
                      >
                        <Avatar name={contact.displayName} />
                        <span className="contact-name">
                          <strong className="ellipsis">{contact.displayName}</strong>
                          <span className="muted small ellipsis">{contact.company ?? contact.email}</span>
                        </span>
                        <bdi className="contact-phone">{contact.phone}</bdi>
                        <span className="contact-chips">
                          {contact.isOptedOut && <span className="chip danger">{t('contacts.optedOut')}</span>}
                          {contact.status && (
                            <span className="tag">
                              <i className="dot" style={{ background: contact.status.color }} />
                              {contact.status.name}
                            </span>
                          )}
                          <span className="chip">{t(`contactType.${contact.type}`)}</span>
                        </span>
                      </button>
                    </li>
                  )
                );
              })}
            </ul>
          </div>
        )}
      </Page>
      {id !== undefined && <ContactPanel key={id} id={id} onClose={() => open(undefined)} />}
      {isNew && (
        <NewContact
          onClose={() => setNew(false)}
          onCreated={created => {
            setNew(false);
            refetch({ requestPolicy: 'network-only' });
            open(created);
          }}
        />
      )}
      {isMerging && (
        <MergeDialog
          contacts={chosen}
          onClose={() => setMerging(false)}
          onMerged={survivor => {
            setMerging(false);
            setSelected([]);
            refetch({ requestPolicy: 'network-only' });
            open(survivor);
          }}
        />
      )}
    </div>
  );
}

import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import {
  type ContactCoreFragment,
  type ContactFilter,
  type ContactOrder,
  ContactPageDocument,
} from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';

const PAGE = 100;
const ROW_PX = 56;
/** A page is read only if it stays in view for this long. */
const SETTLED_MS = 80;

export interface ContactQuery {
  readonly search: string | undefined;
  readonly filter: ContactFilter;
  readonly orderBy: ContactOrder[];
}

interface Props {
  readonly query: ContactQuery;
  readonly total: number;
  /** Incremented when contacts were added or removed, so that the pages are read again. */
  readonly version: number;
  /** The contact that is open, by its databaseId. */
  readonly openId: string | undefined;
  readonly selected: ReadonlyMap<string, ContactCoreFragment>;
  /** Undefined if rows cannot be selected. */
  readonly onSelect: ((contact: ContactCoreFragment, isSelected: boolean) => void) | undefined;
  readonly onOpen: (databaseId: string) => void;
}

/**
 * A virtual list of all contacts of a query: its height is that of all rows, but only the rows in view are read, in pages of 100 by
 * offset, and rendered.
 */
export function ContactList({ query, total, version, ...row }: Props) {
  const { t } = useTexts();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const key = JSON.stringify(query);
  useEffect(() => {
    if (key) scroller.current?.scrollTo({ top: 0 });
  }, [key]);
  const byPage = Map.groupBy(rows.getVirtualItems(), ({ index }) => Math.floor(index / PAGE));
  return (
    <div className="rows" ref={scroller}>
      <ul style={{ height: rows.getTotalSize() }} aria-label={t('nav.contacts')}>
        {[...byPage].map(([page, items]) => (
          <PageRows key={`${page} ${version} ${key}`} query={query} page={page} items={items} total={total} {...row} />
        ))}
      </ul>
    </div>
  );
}

interface PageProps extends Omit<Props, 'version'> {
  readonly page: number;
  readonly items: readonly { readonly index: number; readonly start: number }[];
}

function PageRows({ query, page, items, total, openId, selected, onSelect, onOpen }: PageProps) {
  const graphql = useClient();
  const variables = { ...query, first: PAGE, ...(page > 0 && { offset: page * PAGE }) };
  const [isDue, setDue] = useState(() => page === 0 || graphql.readQuery(ContactPageDocument, variables) !== null);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), SETTLED_MS);
    return () => clearTimeout(timer);
  }, []);
  const [{ data }] = useQuery({
    query: ContactPageDocument,
    variables,
    pause: !isDue,
    requestPolicy: 'cache-and-network',
  });
  const contacts = data?.contacts?.nodes ?? [];
  return items.map(({ index, start }) => {
    const contact = contacts[index - page * PAGE];
    const place = {
      className: 'contact-row',
      style: { transform: `translateY(${start}px)` },
      'aria-setsize': total,
      'aria-posinset': index + 1,
    };
    return contact ? (
      <li key={index} {...place}>
        <ContactRow
          contact={contact}
          isOpen={contact.databaseId === openId}
          isSelected={selected.has(contact.id)}
          onSelect={onSelect}
          onOpen={onOpen}
        />
      </li>
    ) : (
      <li key={index} {...place} aria-busy="true">
        <span className="skeleton" />
      </li>
    );
  });
}

interface RowProps extends Pick<Props, 'onSelect' | 'onOpen'> {
  readonly contact: ContactCoreFragment;
  readonly isOpen: boolean;
  readonly isSelected: boolean;
}

function ContactRow({ contact, isOpen, isSelected, onSelect, onOpen }: RowProps) {
  const { t } = useTexts();
  const { displayName, company, email, phone, status, type, isOptedOut } = contact;
  return (
    <>
      {onSelect && (
        <label className="row-check">
          <input
            type="checkbox"
            aria-label={t('contacts.select', { name: displayName })}
            checked={isSelected}
            onChange={event => onSelect(contact, event.target.checked)}
          />
        </label>
      )}
      <button type="button" aria-current={isOpen ? 'true' : undefined} onClick={() => onOpen(contact.databaseId)}>
        <Avatar name={displayName} />
        <span className="contact-name">
          <strong className="ellipsis" dir="auto">
            {displayName}
          </strong>
          <span className="muted small ellipsis" dir="auto">
            {company ?? email}
          </span>
        </span>
        <bdi className="contact-phone">{phone}</bdi>
        <span className="contact-chips">
          {isOptedOut && <span className="chip danger">{t('contacts.optedOut')}</span>}
          {status && (
            <span className="tag">
              <i className="dot" style={{ background: status.color }} />
              {status.name}
            </span>
          )}
          <span className="chip">{t(`contactType.${type}`)}</span>
        </span>
      </button>
    </>
  );
}

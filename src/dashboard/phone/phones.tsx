import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { useSearchParams } from 'wouter';
import { PhonePeopleDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { ClockButton } from './clock-button.tsx';
import { PhoneDevice } from './phone-device.tsx';

interface Person {
  readonly phone: string;
  readonly name: string;
}

/** How often an account without contacts is asked for its first one. */
const FIRST_PERSON_MS = 3_000;

/** The phones of customers, several at once. Which ones is in the address. */
export function Phones() {
  const { t } = useTexts();
  const [params, setParams] = useSearchParams();
  const [search, setSearch] = useState('');
  const [{ data }, refetch] = useQuery({ query: PhonePeopleDocument, variables: { search: search || undefined } });
  const people: Person[] = (data?.contacts?.nodes ?? []).flatMap(({ phone, displayName }) =>
    phone === null ? [] : [{ phone, name: displayName }],
  );
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const given = params.getAll('p');
  const open = given.length > 0 ? given : people.slice(0, 2).map(({ phone }) => phone);
  const isEmpty = data !== undefined && search === '' && open.length === 0 && people.length === 0;
  useEffect(() => {
    if (!isEmpty) return;
    const timer = setInterval(() => refetch({ requestPolicy: 'network-only' }), FIRST_PERSON_MS);
    return () => clearInterval(timer);
  }, [isEmpty, refetch]);
  const nameOf = (phone: string): string =>
    names[phone] ?? people.find(person => person.phone === phone)?.name ?? phone;
  const show = (phones: readonly string[]): void =>
    setParams(new URLSearchParams(phones.map(phone => ['p', phone])), { replace: true });
  const add = ({ phone, name }: Person): void => {
    setNames({ ...names, ...Object.fromEntries(people.map(each => [each.phone, each.name])), [phone]: name });
    setSearch('');
    // A phone that is open already stays where it is: an element that moves loses what it has scrolled to.
    show(open.includes(phone) ? open : [...open, phone]);
  };
  const isNumber = /^\+\d{7,15}$/.test(search.replace(/[\s()-]/g, ''));
  return (
    <main className="page phones-page">
      <header className="page-head">
        <div>
          <h1>{t('phone.title')}</h1>
          <p className="muted">{t('phone.explained')}</p>
        </div>
        <ClockButton />
      </header>
      <div className="phone-add">
        <SearchField label={t('phone.add')} placeholder={t('phone.addExample')} value={search} onChange={setSearch} />
        {search !== '' && (
          <ul className="phone-people">
            {people.map(person => (
              <li key={person.phone}>
                <button type="button" className="menu-item" onClick={() => add(person)}>
                  {person.name} <bdi className="muted small">{person.phone}</bdi>
                </button>
              </li>
            ))}
            {isNumber && (
              <li>
                <button
                  type="button"
                  className="menu-item"
                  onClick={() => add({ phone: search.replace(/[\s()-]/g, ''), name: search })}
                >
                  <Icon name="plus" size={16} /> {t('phone.new', { phone: search })}
                </button>
              </li>
            )}
          </ul>
        )}
      </div>
      {isEmpty && <Empty title={t('phone.noneTitle')} text={t('phone.none')} example="phone" />}
      <div className="phones">
        {open.map(phone => (
          <PhoneDevice
            key={phone}
            phone={phone}
            name={nameOf(phone)}
            onNumber={next => {
              setNames({ ...names, [next]: nameOf(phone) });
              show(open.map(each => (each === phone ? next : each)));
            }}
            onClose={() => show(open.filter(each => each !== phone))}
          />
        ))}
      </div>
    </main>
  );
}

import { useState } from 'react';
import { useQuery } from 'urql';
import { useSearchParams } from 'wouter';
import { PhonePeopleDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { ClockButton } from './clock-button.tsx';
import { PhoneDevice } from './phone-device.tsx';

interface Person {
  readonly phone: string;
  readonly name: string;
}

/** The phones of customers, several at once. Which ones is in the address. */
export function Phones() {
  const { t } = useTexts();
  const [params, setParams] = useSearchParams();
  const [search, setSearch] = useState('');
  const [{ data }] = useQuery({ query: PhonePeopleDocument, variables: { search: search || undefined } });
  const people: Person[] = (data?.contacts?.nodes ?? []).flatMap(({ phone, displayName }) =>
    phone === null ? [] : [{ phone, name: displayName }],
  );
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const given = params.getAll('p');
  const open = given.length > 0 ? given : people.slice(0, 2).map(({ phone }) => phone);
  const nameOf = (phone: string): string =>
    names[phone] ?? people.find(person => person.phone === phone)?.name ?? phone;
  const show = (phones: readonly string[]): void =>
    setParams(new URLSearchParams(phones.map(phone => ['p', phone])), { replace: true });
  const add = ({ phone, name }: Person): void => {
    setNames({ ...names, ...Object.fromEntries(people.map(each => [each.phone, each.name])), [phone]: name });
    setSearch('');
    show([...open.filter(each => each !== phone), phone]);
  };
  const isNumber = /^\+\d{7,15}$/.test(search.replace(/[\s()-]/g, ''));
  return (
    <main className="page">
      <header className="page-head">
        <div>
          <h1>{t('phone.title')}</h1>
          <p className="muted">{t('phone.explained')}</p>
        </div>
        <ClockButton />
      </header>
      <div className="phone-add">
        <label className="search">
          <Icon name="search" size={17} />
          <span className="visually-hidden">{t('phone.add')}</span>
          <input
            type="search"
            placeholder={t('phone.add')}
            value={search}
            onChange={event => setSearch(event.target.value)}
          />
        </label>
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

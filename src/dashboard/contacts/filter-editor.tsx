import { useState } from 'react';
import { useQuery } from 'urql';
import {
  type ContactFilter,
  FilterChoicesDocument,
  GroupChoicesDocument,
  type GroupChoicesQuery,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useAll } from '../ui/use-all.ts';
import { type Condition, conditionsOf, filterOf, RULE_NAMES, RULES, type RuleName } from './contact-filter.ts';

const TYPES = ['LEAD', 'CUSTOMER', 'GUEST'] as const;

interface Props {
  readonly filter: ContactFilter;
  readonly onChange: (filter: ContactFilter) => void;
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Edits the conditions of a contact filter, which must all hold. A filter that it cannot show is kept, and can be removed. */
export function FilterEditor({ filter, onChange }: Props) {
  const { t } = useTexts();
  const known = conditionsOf(filter);
  // Rows without a value are not part of the filter, so they are kept here.
  const [drafts, setDrafts] = useState<readonly Condition[]>(known ?? []);
  const rows = JSON.stringify(filterOf(drafts)) === JSON.stringify(filterOf(known ?? [])) ? drafts : (known ?? []);
  const set = (next: readonly Condition[]): void => {
    setDrafts(next);
    onChange(filterOf(next));
  };
  const choices = useChoices();
  if (!known)
    return (
      <div className="filter-editor">
        <pre className="code-block">{JSON.stringify(filter, undefined, 2)}</pre>
        <button type="button" className="button small" onClick={() => set([])}>
          <Icon name="close" size={16} /> {t('filter.clear')}
        </button>
      </div>
    );
  return (
    <fieldset className="filter-editor" aria-label={t('filter.title')}>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a condition is known by
        <div key={index} className="filter-row">
          <select
            aria-label={t('filter.condition', { number: index + 1 })}
            value={row.rule}
            onChange={event => set(rows.with(index, { rule: event.target.value as RuleName, value: '' }))}
          >
            {RULE_NAMES.map(rule => (
              <option key={rule} value={rule}>
                {t(`rule.${rule}`)}
              </option>
            ))}
          </select>
          <ConditionValue
            row={row}
            label={t('filter.value', { number: index + 1 })}
            choices={choices[RULES[row.rule].kind]}
            onChange={value => set(rows.with(index, { ...row, value }))}
          />
          <button
            type="button"
            className="icon-button"
            aria-label={t('filter.remove', { number: index + 1 })}
            onClick={() => set(rows.toSpliced(index, 1))}
          >
            <Icon name="close" size={18} />
          </button>
        </div>
      ))}
      <button
        type="button"
        className="button small"
        disabled={rows.length >= 15}
        onClick={() => set([...rows, { rule: 'typeIs', value: '' }])}
      >
        <Icon name="plus" size={16} /> {t('filter.add')}
      </button>
    </fieldset>
  );
}

interface ValueProps {
  readonly row: Condition;
  readonly label: string;
  readonly choices: readonly Choice[] | undefined;
  readonly onChange: (value: string) => void;
}

function ConditionValue({ row, label, choices, onChange }: ValueProps) {
  const { t } = useTexts();
  const { readStaff } = useAccount();
  const { kind } = RULES[row.rule];
  if (kind === 'none') return <span />;
  if (kind === 'text' || kind === 'date')
    return (
      <input
        type={kind === 'date' ? 'date' : 'text'}
        aria-label={label}
        value={row.value}
        onChange={event => onChange(event.target.value)}
      />
    );
  return (
    <select
      aria-label={label}
      value={row.value}
      onFocus={kind === 'staff' ? readStaff : undefined}
      onChange={event => onChange(event.target.value)}
    >
      <option value="">{t('choose')}</option>
      {choices?.map(({ value, label: text }) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

const groupsOf = ({ contactGroups }: GroupChoicesQuery) => contactGroups;

/** Choices for operands, as far as the session may read them. */
function useChoices(): Readonly<Partial<Record<string, readonly Choice[]>>> {
  const { t } = useTexts();
  const { can, staff } = useAccount();
  const { rows: groups } = useAll({
    query: GroupChoicesDocument,
    connectionOf: groupsOf,
    isFresh: true,
    pause: !can('GROUPS_READ'),
  });
  const [{ data }] = useQuery({
    query: FilterChoicesDocument,
    variables: {
      withSources: can('SOURCES_READ'),
      withStatuses: can('STATUSES_READ'),
    },
    requestPolicy: 'cache-and-network',
  });
  const named = (nodes: readonly { readonly id: string; readonly name: string }[] | undefined) =>
    nodes?.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  return {
    type: TYPES.map(value => ({ value, label: t(`contactType.${value}`) })),
    group: named(groups),
    source: named(data?.contactSources?.nodes),
    status: named(data?.contactStatuses?.nodes),
    staff: named(staff),
    country: data?.countries?.map(({ alpha2, name }) => ({ value: alpha2, label: name })) ?? [],
  };
}

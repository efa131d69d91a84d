import { phoneKey } from '../../../platform/phone.ts';

/** For how long a contact had a number: by the word of the network (`wa_id`) or of the tenant (`phone`). Milliseconds. */
export interface Holding {
  readonly isTheirs: boolean;
  readonly kind: 'phone' | 'wa_id';
  readonly fromMs: number;
  /** null: until now. */
  readonly untilMs: number | null;
}

/** A number that a contact has or had, and that others have or had as well. */
export interface SharedNumber {
  /** As `phoneKey` folds it. */
  readonly identity: string;
  /** The same as it stands in texts: digits, in each national spelling that the contact had. */
  readonly spellings: readonly string[];
  readonly holdings: readonly Holding[];
}

export interface Holder {
  readonly contact_id: number;
  /** Digits. */
  readonly number: string;
  readonly kind: 'phone' | 'wa_id';
  readonly from_ms: number;
  readonly until_ms: number | null;
}

/** Digits of a number, as it is and as `phoneKey` folds it. */
export const spellingsOf = (number: string): string[] =>
  [number, phoneKey(number)].map(text => text.replace(/\D/g, ''));

/** Those numbers of a contact that others have or had, out of all who have or had any. */
export function sharedNumbersOf(contactId: number, holders: readonly Holder[]): SharedNumber[] {
  const byIdentity = Map.groupBy(holders, ({ number }) => phoneKey(number));
  return [...byIdentity].flatMap(([identity, some]) => {
    const isTheirs = ({ contact_id }: Holder): boolean => contact_id === contactId;
    if (!some.some(isTheirs) || some.every(isTheirs)) return [];
    const holdings = some.map(holder => ({
      isTheirs: isTheirs(holder),
      kind: holder.kind,
      fromMs: holder.from_ms,
      untilMs: holder.until_ms,
    }));
    const numbers = some.filter(isTheirs).map(({ number }) => number);
    return [{ identity, spellings: [...new Set(numbers.flatMap(spellingsOf))], holdings }];
  });
}

/**
 * Whether a shared number meant the contact at an instant of the network. What the network showed goes before what the tenant
 * wrote down, which begins and ends when it was written; outside of every holding it is whose it became next, or was last.
 */
export function wasTheirs({ holdings }: SharedNumber, atMs: number): boolean {
  for (const kind of ['wa_id', 'phone'] as const) {
    const covering = holdings.filter(
      holding =>
        holding.kind === kind && holding.fromMs <= atMs && (holding.untilMs === null || atMs < holding.untilMs),
    );
    if (covering.length > 0) return covering.some(({ isTheirs }) => isTheirs);
  }
  const later = holdings.filter(({ fromMs }) => fromMs > atMs).sort((a, b) => a.fromMs - b.fromMs);
  const earlier = [...holdings].sort((a, b) => (b.untilMs ?? 0) - (a.untilMs ?? 0));
  return (later[0] ?? earlier[0])?.isTheirs ?? false;
}

/** When somebody else got a number that the contact has no more; null: the contact has it still. */
export function lostAt({ holdings }: SharedNumber): number | null {
  const own = holdings.filter(({ isTheirs }) => isTheirs);
  if (own.some(({ untilMs }) => untilMs === null)) return null;
  const lastFromMs = Math.max(...own.map(({ fromMs }) => fromMs));
  const next = holdings.filter(({ isTheirs, fromMs }) => !isTheirs && fromMs > lastFromMs);
  return Math.min(...own.map(({ untilMs }) => untilMs ?? 0), ...next.map(({ fromMs }) => fromMs));
}

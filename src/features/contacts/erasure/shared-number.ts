import { phoneKey } from '../../../platform/phone.ts';

/** A period in which a contact had a number, as reported by the network (`wa_id`) or set by the tenant (`phone`). Milliseconds. */
export interface Holding {
  readonly belongsToContact: boolean;
  readonly kind: 'phone' | 'wa_id';
  readonly fromMs: number;
  /** Null: still held. */
  readonly untilMs: number | null;
}

/** A number that a contact has or had, and that other contacts have or had too. */
export interface SharedNumber {
  /** Normalised by `phoneKey`. */
  readonly identity: string;
  /** As it may occur in texts: digits, in each national spelling that the contact had. */
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

/** The digits of a number, as given and normalised by `phoneKey`. */
export const spellingsOf = (number: string): string[] =>
  [number, phoneKey(number)].map(text => text.replace(/\D/g, ''));

/** Whether a contact had a number that it has no more. @param identity normalised by `phoneKey` */
export function isFormerNumber(contactId: number, identity: string, holders: readonly Holder[]): boolean {
  const own = holders.filter(({ contact_id, number }) => contact_id === contactId && phoneKey(number) === identity);
  return own.length > 0 && own.every(({ until_ms: untilMs }) => untilMs !== null);
}

/** Returns the numbers of a contact that other contacts have or had. @param holders all present and former holders of its numbers */
export function sharedNumbersOf(contactId: number, holders: readonly Holder[]): SharedNumber[] {
  const byIdentity = Map.groupBy(holders, ({ number }) => phoneKey(number));
  return [...byIdentity].flatMap(([identity, sameNumber]) => {
    const belongsToContact = ({ contact_id }: Holder): boolean => contact_id === contactId;
    if (!sameNumber.some(belongsToContact) || sameNumber.every(belongsToContact)) return [];
    const holdings = sameNumber.map(holder => ({
      belongsToContact: belongsToContact(holder),
      kind: holder.kind,
      fromMs: holder.from_ms,
      untilMs: holder.until_ms,
    }));
    const numbers = sameNumber.filter(belongsToContact).map(({ number }) => number);
    return [{ identity, spellings: [...new Set(numbers.flatMap(spellingsOf))], holdings }];
  });
}

/**
 * Whether a shared number belonged to the contact at a network timestamp. Periods reported by the network take precedence over
 * those set by the tenant, which begin and end when they were entered. Outside of every period, the next holder counts, otherwise
 * the last one.
 */
export function wasHeldAt({ holdings }: SharedNumber, atMs: number): boolean {
  for (const kind of ['wa_id', 'phone'] as const) {
    const covering = holdings.filter(
      holding =>
        holding.kind === kind && holding.fromMs <= atMs && (holding.untilMs === null || atMs < holding.untilMs),
    );
    if (covering.length > 0) return covering.some(({ belongsToContact }) => belongsToContact);
  }
  const later = holdings.filter(({ fromMs }) => fromMs > atMs).sort((a, b) => a.fromMs - b.fromMs);
  const earlier = [...holdings].sort((a, b) => (b.untilMs ?? 0) - (a.untilMs ?? 0));
  return (later[0] ?? earlier[0])?.belongsToContact ?? false;
}

/** A span of time in milliseconds; its end is excluded. */
export interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** When a shared number belonged to the contact, as `wasHeldAt` decides it. */
export function heldPeriods(number: SharedNumber): Period[] {
  const times = number.holdings.flatMap(({ fromMs, untilMs }) => (untilMs === null ? [fromMs] : [fromMs, untilMs]));
  const turns = [Number.NEGATIVE_INFINITY, ...new Set(times.sort((a, b) => a - b))];
  return turns.flatMap((fromMs, index) =>
    wasHeldAt(number, fromMs) ? [{ fromMs, untilMs: turns[index + 1] ?? Number.POSITIVE_INFINITY }] : [],
  );
}

/** When the contact lost the number to another one; null if the contact still has it. */
export function lostAt({ holdings }: SharedNumber): number | null {
  const own = holdings.filter(({ belongsToContact }) => belongsToContact);
  if (own.some(({ untilMs }) => untilMs === null)) return null;
  const lastFromMs = Math.max(...own.map(({ fromMs }) => fromMs));
  const next = holdings.filter(({ belongsToContact, fromMs }) => !belongsToContact && fromMs > lastFromMs);
  return Math.min(...own.map(({ untilMs }) => untilMs ?? 0), ...next.map(({ fromMs }) => fromMs));
}

import { DAY } from '../../../platform/clock.ts';
import { asNumber, type JsonObject } from '../../../platform/json.ts';
import type { NetworkUpdate, UnhandledReason } from '../../updates.ts';
import type { RawChange } from './changes.ts';
import { contactsWith } from './contacts.ts';

/** The state shared by the readers of one change. */
export interface Reading {
  readonly field: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  readonly value: JsonObject;
  readonly arrivedAt: Date;
  /** When the change happened, by its entry; undefined if that has no time, or an absurd one. */
  readonly changedAt: Date | undefined;
  /**
   * Wraps an unreadable list element, or the value of a key that is no list, in a separate change with its contacts, so that it can be
   * reprocessed.
   */
  unreadable(list: string, part: unknown, reason?: UnhandledReason): NetworkUpdate;
}

export function readingOf(change: RawChange, value: JsonObject, arrivedAt: Date): Reading {
  const { field, address, entryId, time } = change;
  const { messaging_product, metadata } = value;
  const contactsOf = contactsWith(value['contacts']);
  return {
    field,
    phoneNumberId: address.phoneNumberId ?? '',
    wabaId: address.wabaId ?? '',
    value,
    arrivedAt,
    changedAt: changeTime(time, arrivedAt),
    unreadable: (list, part, reason = 'unreadable') => ({
      kind: 'unhandled',
      field,
      reason,
      raw: {
        ...(entryId !== undefined && { id: entryId }),
        ...(time !== undefined && { time }),
        changes: [
          {
            field,
            value: {
              messaging_product,
              metadata,
              ...contactsOf(part),
              [list]: Array.isArray(value[list]) ? [part] : part,
            },
          },
        ],
      },
    }),
  };
}

export interface ReadTime {
  readonly at: Date;
  readonly isTimeEstimated?: true;
}

/** A time of the network; if it cannot be parsed, the time of arrival, marked as such. */
export function timeOf(value: unknown, { arrivedAt }: Pick<Reading, 'arrivedAt'>): ReadTime {
  const at = readTime(value);
  return at ? { at } : { at: arrivedAt, isTimeEstimated: true };
}

/** Before the network had an API for businesses: no time of a change. */
const FIRST_CHANGE = Date.UTC(2016, 0);
/** How far the network's clock may be ahead of ours. */
const MAX_AHEAD_MS = DAY;

function changeTime(value: unknown, arrivedAt: Date): Date | undefined {
  const at = readTime(value);
  return at && at.getTime() >= FIRST_CHANGE && at.getTime() <= arrivedAt.getTime() + MAX_AHEAD_MS ? at : undefined;
}

/** Unix seconds as text (in all recorded webhooks) or as a number; milliseconds are recognised by magnitude. */
export function readTime(value: unknown): Date | undefined {
  const number = asNumber(value);
  if (number === undefined || number <= 0) return undefined;
  const ms = number < 100_000_000_000 ? number * 1_000 : number;
  return ms <= 8_640_000_000_000_000 ? new Date(ms) : undefined;
}

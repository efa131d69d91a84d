import type { EventType, LiveRatesSubscription } from '../documents.generated.ts';

type Count = LiveRatesSubscription['eventRates']['counts'][number];

/** Seconds of the chart. */
export const SECONDS = 120;

/** Series of the chart, in the order of the message life cycle. */
export const STATUSES = ['RECEIVED', 'QUEUED', 'SENT', 'DELIVERED', 'READ', 'FAILED'] as const;

export type RateStatus = (typeof STATUSES)[number];

const STATUS_OF = new Map<EventType, RateStatus>(STATUSES.map(status => [`MESSAGE_${status}`, status]));

/** Messages of the last seconds by status, as the gateway counts them. */
export class Rates {
  readonly #seconds = new Map<number, Map<RateStatus, number>>();

  add({ second, type, count }: Count, nowMs: number): void {
    const status = STATUS_OF.get(type);
    const at = Math.floor(Date.parse(second) / 1_000);
    const oldest = Math.floor(nowMs / 1_000) - SECONDS - 5;
    for (const key of this.#seconds.keys()) if (key < oldest) this.#seconds.delete(key);
    if (status === undefined || at < oldest) return;
    const counts = this.#seconds.get(at) ?? new Map<RateStatus, number>();
    counts.set(status, (counts.get(status) ?? 0) + count);
    this.#seconds.set(at, counts);
  }

  /**
   * Seconds since 1970, then the counts of each status; null for a status without messages, whose line would hide those below it. The
   * last two seconds are omitted, because their counts may not have arrived yet.
   */
  series(nowMs: number): (number | null)[][] {
    const end = Math.floor(nowMs / 1_000) - 1;
    const seconds = Array.from({ length: SECONDS }, (_, index) => end - SECONDS + index);
    const counts = STATUSES.map(status => seconds.map(at => this.#seconds.get(at)?.get(status) ?? 0));
    return [seconds, ...counts.map(series => (series.some(Boolean) ? series : series.map(() => null)))];
  }

  /** Messages a second over the last ten of them. */
  average(status: RateStatus, nowMs: number): number {
    const end = Math.floor(nowMs / 1_000) - 1;
    let sum = 0;
    for (let at = end - 10; at < end; at += 1) sum += this.#seconds.get(at)?.get(status) ?? 0;
    return sum / 10;
  }
}

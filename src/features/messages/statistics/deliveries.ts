import type { CountRow } from './statistics.sql.ts';

/** Bounds of a bucket in milliseconds; see `delivery_bucket` in the database. */
const GROWTH = 1.25;
const boundOf = (bucket: number): number => GROWTH ** bucket;

/** Percentiles of the times that deliveries took, from counts by bucket. The error is less than a bucket: 25 %. */
export class Deliveries {
  readonly #byKey = new Map<string, Map<number, number>>();

  constructor(rows: readonly CountRow[], keyOf: (row: CountRow) => string) {
    for (const row of rows) {
      const key = keyOf(row);
      const buckets = this.#byKey.get(key) ?? new Map<number, number>();
      this.#byKey.set(key, buckets);
      const bucket = Number(row.delivery_bucket);
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + row.messages);
    }
  }

  of(key: string): { readonly deliveryMsP50: number | null; readonly deliveryMsP95: number | null } {
    const buckets = this.#byKey.get(key);
    return { deliveryMsP50: percentile(buckets, 0.5), deliveryMsP95: percentile(buckets, 0.95) };
  }
}

/** Interpolates within the bucket that holds the percentile. */
function percentile(buckets: ReadonlyMap<number, number> | undefined, share: number): number | null {
  if (!buckets) return null;
  const sorted = [...buckets].sort(([one], [other]) => one - other);
  let left = share * sorted.reduce((sum, [, count]) => sum + count, 0);
  for (const [bucket, count] of sorted) {
    if (left <= count) return Math.round(boundOf(bucket) + (boundOf(bucket + 1) - boundOf(bucket)) * (left / count));
    left -= count;
  }
  return null;
}

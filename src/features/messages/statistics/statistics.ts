import { invalid } from '../../../core/errors.ts';
import type { Filter } from '../../../core/list-args.ts';
import type { PriceTable } from '../../../core/price-table.ts';
import { callerOf, tenantOf } from '../../../core/principal.ts';
import { type CalendarInterval, intervalStarts } from '../../../platform/calendar-intervals.ts';
import { isTimeZone } from '../../../platform/time-zones.ts';
import type { Context } from '../../../schema/context.ts';
import type { MoneyShape } from '../../../schema/money.ts';
import type { Selection } from '../../../schema/selection.ts';
import { COUNTED_FILTERS, type StatisticColumn } from './columns.ts';
import { Costs } from './costs.ts';
import { Deliveries } from './deliveries.ts';
import { DIMENSIONS, type Dimension, type DimensionValues, valuesOf } from './dimensions.ts';
import { spansOf, uncounted } from './spans.ts';
import { type CountRequest, type CountRow, countMessages } from './statistics.sql.ts';

/** A series must fit into a response. */
const MAX_INTERVALS = 10_000;
const MAX_POINTS = 20_000;

export interface StatisticsArgs {
  /** ISO 8601. */
  readonly since: string;
  /** Excluded; now if absent. */
  readonly until?: string | null | undefined;
  readonly interval: CalendarInterval;
  readonly groupBy: readonly Dimension[];
  readonly filter?: Filter | null | undefined;
  /** The account's if absent. */
  readonly timeZone?: string | null | undefined;
}

/** Messages of one interval and one combination of values. */
export interface Point extends DimensionValues {
  readonly startMs: number;
  readonly count: number;
  /** By currency; null without a price table. */
  readonly cost: readonly MoneyShape[] | null;
  readonly unpricedCount: number;
  readonly deliveryMsP50: number | null;
  readonly deliveryMsP95: number | null;
}

export interface Statistics {
  readonly total: number;
  readonly cost: readonly MoneyShape[] | null;
  readonly unpricedCount: number;
  readonly series: readonly Point[];
}

/** Columns of a report. */
interface Wanted {
  readonly onlyPriced: boolean;
  readonly costs: boolean;
  readonly deliveries: boolean;
}

/** Columns that a selection of `MessageStatistics` needs. */
export function wantedBy(selection: Selection, onlyPriced = false): Wanted {
  const point = selection.get('series');
  const either = (name: string): boolean => selection.has(name) || point?.has(name) === true;
  return {
    onlyPriced,
    costs: either('cost') || either('unpricedCount'),
    deliveries: either('deliveryMsP50') || either('deliveryMsP95'),
  };
}

/**
 * Counts messages by the time of their acceptance and what they are now.
 * @throws VALIDATION_ERROR for an unknown zone, an empty or reversed range, and for more points than fit into a response
 */
export const readStatistics = (context: Context, args: StatisticsArgs, wanted: Wanted): Promise<Statistics> =>
  countStatistics(
    { db: context.db.read, nowMs: context.clock.now(), prices: context.prices },
    { tenantId: tenantOf(context), timeZone: callerOf(context).tenant.timeZone },
    args,
    wanted,
  );

interface Sources {
  readonly db: Context['db']['read'];
  readonly nowMs: number;
  readonly prices: PriceTable | undefined;
}

/** `readStatistics` without a caller. */
export async function countStatistics(
  { db, nowMs, prices }: Sources,
  account: { readonly tenantId: number; readonly timeZone: string },
  args: StatisticsArgs,
  wanted: Wanted,
): Promise<Statistics> {
  const { sinceMs, untilMs, starts } = rangeOf(args, account.timeZone, nowMs);
  const groupBy = [...new Set(args.groupBy)];
  const filter = args.filter ?? {};
  const spans = isCounted(filter) ? spansOf(sinceMs, untilMs, starts, nowMs) : uncounted(sinceMs, untilMs);
  const request: CountRequest = {
    spans,
    starts,
    columns: columnsOf(groupBy),
    filter,
    onlyPriced: wanted.onlyPriced,
  };
  const costs = wanted.costs && prices ? new Costs(prices, starts, untilMs) : undefined;
  const [rows, timed] = await Promise.all([
    countMessages(db, account.tenantId, costs ? costs.extend(request) : request),
    wanted.deliveries
      ? countMessages(db, account.tenantId, {
          ...request,
          columns: [...new Set([...request.columns, 'delivery_bucket' as const])],
        })
      : [],
  ]);
  return fold(groupBy, starts, rows, costs, new Deliveries(timed, row => keyOf(groupBy, row, row.place)));
}

function rangeOf({ since, until, interval, timeZone }: StatisticsArgs, accountZone: string, nowMs: number) {
  const sinceMs = Date.parse(since);
  const untilMs = until == null ? nowMs : Date.parse(until);
  const zone = timeZone ?? accountZone;
  if (!isTimeZone(zone))
    throw invalid({ timeZone: ['Must be a name of the IANA time zone database, for example Europe/Berlin.'] });
  if (sinceMs >= untilMs) throw invalid({ since: ['Must be before `until`, which is now if it is absent.'] });
  const starts = intervalStarts(interval, zone, sinceMs, untilMs, MAX_INTERVALS + 1);
  if (starts.length > MAX_INTERVALS)
    throw invalid({ interval: [`The range has more than ${MAX_INTERVALS} intervals; choose a longer interval.`] });
  return { sinceMs, untilMs, starts };
}

/** Whether the statistics can answer a filter. */
const isCounted = (filter: Filter): boolean =>
  Object.entries(filter).every(([field, value]) => {
    if (value == null || Object.hasOwn(COUNTED_FILTERS, field)) return true;
    if (field === 'not') return isCounted(value as Filter);
    return (field === 'and' || field === 'or') && (value as readonly Filter[]).every(isCounted);
  });

const columnsOf = (groupBy: readonly Dimension[]): StatisticColumn[] => [
  ...new Set(groupBy.map(name => DIMENSIONS[name].column)),
];

const keyOf = (groupBy: readonly Dimension[], row: CountRow, place: number): string =>
  JSON.stringify([place, ...groupBy.map(name => DIMENSIONS[name].read(row))]);

interface Sum {
  readonly place: number;
  readonly row: CountRow;
  count: number;
}

function fold(
  groupBy: readonly Dimension[],
  starts: readonly number[],
  rows: readonly CountRow[],
  costs: Costs | undefined,
  deliveries: Deliveries,
): Statistics {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const place = costs ? costs.intervalOf(row.place) : row.place;
    const key = keyOf(groupBy, row, place);
    const sum = sums.get(key);
    if (sum) sum.count += row.messages;
    else sums.set(key, { place, row, count: row.messages });
    costs?.add(key, row);
  }
  if (sums.size > MAX_POINTS)
    throw invalid({
      groupBy: [`The series has more than ${MAX_POINTS} points; choose fewer dimensions or a longer interval.`],
    });
  const series = [...sums]
    .sort(([a, one], [b, other]) => one.place - other.place || other.count - one.count || (a < b ? -1 : 1))
    .map(
      ([key, { place, row, count }]): Point => ({
        startMs: starts[place - 1] ?? 0,
        count,
        cost: costs?.of(key) ?? null,
        unpricedCount: costs?.unpricedOf(key) ?? 0,
        ...deliveries.of(key),
        ...valuesOf(groupBy, row),
      }),
    );
  return {
    total: series.reduce((sum, { count }) => sum + count, 0),
    cost: costs?.total() ?? null,
    unpricedCount: series.reduce((sum, { unpricedCount }) => sum + unpricedCount, 0),
    series,
  };
}

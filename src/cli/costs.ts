import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../config.ts';
import type { Db } from '../database/database.ts';
import { getCampaigns } from '../features/campaigns/store.ts';
import { getChannels } from '../features/channels/store.ts';
import { csvLine } from '../features/contacts/exports/csv.ts';
import { configuredPrices } from '../features/messages/pricing/price-table.ts';
import { DIMENSIONS, type Dimension, type DimensionValues } from '../features/messages/statistics/dimensions.ts';
import { countStatistics, type Point } from '../features/messages/statistics/statistics.ts';
import { getTemplates } from '../features/templates/store.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { systemClock } from '../platform/clock.ts';
import { parseDateTime } from '../platform/date-time.ts';
import { withDatabase } from './database.ts';
import { print } from './print.ts';

interface Options {
  readonly since?: string;
  readonly until?: string;
  readonly interval: 'hour' | 'day' | 'week' | 'month';
  readonly by: readonly Dimension[];
  readonly timeZone?: string;
  readonly csv: boolean;
  readonly json: boolean;
}

/** Dimensions of costs, with the columns that each adds. */
const COLUMNS = {
  category: 'category',
  pricingType: 'pricingType',
  country: 'country',
  channel: 'channelId',
  template: 'templateId',
  campaign: 'campaignId',
  source: 'source',
} as const satisfies Partial<Record<Dimension, (typeof DIMENSIONS)[Dimension]['name']>>;

function dimensions(text: string): readonly Dimension[] {
  const names = text.split(',').map(name => name.trim());
  const unknown = names.filter(name => !Object.hasOwn(COLUMNS, name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`Must be some of ${Object.keys(COLUMNS).join(', ')}, with commas between.`);
  return names as (keyof typeof COLUMNS)[];
}

function date(text: string): string {
  const ms = parseDateTime(text);
  if (ms === undefined) throw new InvalidArgumentError('Must be a date such as 2026-10-01, or an instant.');
  return new Date(ms).toISOString();
}

/** Dimensions that are ids; a separate column shows their names. */
const NAMED = { channel: getChannels, template: getTemplates, campaign: getCampaigns } as const;
type Named = keyof typeof NAMED;
const isNamed = (dimension: Dimension): dimension is Named => Object.hasOwn(NAMED, dimension);
const columnsOf = (dimension: Dimension) => (isNamed(dimension) ? [dimension, `${dimension}Name`] : [dimension]);

/** Names by id; deleted objects have none. */
type Names = Partial<Record<Named, ReadonlyMap<number, string>>>;

async function namesOf(db: Db, tenantId: number, by: readonly Dimension[], series: readonly Point[]): Promise<Names> {
  const names: Names = {};
  for (const dimension of by.filter(isNamed)) {
    const ids = new Set(series.flatMap(point => point[COLUMNS[dimension]] ?? []));
    const rows = await NAMED[dimension](db, tenantId, [...ids]);
    names[dimension] = new Map(rows.map(({ id, name }) => [id, name]));
  }
  return names;
}

const valuesOf = (dimension: Dimension, values: Pick<Point, keyof DimensionValues>, names: Names) => {
  const value = values[DIMENSIONS[dimension].name];
  return isNamed(dimension) ? [value, names[dimension]?.get(Number(value)) ?? null] : [value];
};

/** One row for each currency; without a price one row without. Only the first has the counts, so that sums of rows are right. */
const rowsOf = (by: readonly Dimension[], { startMs, count, cost, unpricedCount, ...values }: Point, names: Names) =>
  (cost && cost.length > 0 ? cost : [{ amount: null, currency: null }]).map(({ amount, currency }, place) => ({
    start: new Date(startMs).toISOString(),
    ...Object.fromEntries(
      by.flatMap(dimension => {
        const cells = valuesOf(dimension, values, names);
        return columnsOf(dimension).map((column, cell) => [column, cells[cell]]);
      }),
    ),
    messages: place === 0 ? count : null,
    unpriced: place === 0 ? unpricedCount : null,
    amount,
    currency,
  }));

export function costsCommand(): Command {
  return new Command('costs')
    .description('list the costs of messages, by month and category')
    .argument('<tenant>', 'slug of the tenant')
    .option('--since <date>', 'first day, or instant (default: a year ago)', date)
    .option('--until <date>', 'end, excluded (default: now)', date)
    .addOption(
      new Option('--interval <interval>', 'length of the intervals')
        .choices(['hour', 'day', 'week', 'month'])
        .default('month'),
    )
    .option('--by <names>', `${Object.keys(COLUMNS).join(', ')}, with commas between`, dimensions, ['category'])
    .option('--time-zone <name>', "time zone of the intervals (default: the tenant's)")
    .addOption(new Option('--csv', 'print CSV').default(false).conflicts('json'))
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `
Counts the messages for which the network named a price. Amounts come from the price table that PARLEY_PRICES names; without it, and for
messages without a price in it (unpriced), there are none.`,
    )
    .action(async (slug: string, { since, until, interval, by, timeZone, csv, json }: Options) => {
      const config = loadConfig();
      const prices = await configuredPrices(config);
      const nowMs = systemClock.now();
      const { series, names } = await withDatabase(config, async db => {
        const tenant = await requireTenant(db.read, slug);
        const { series } = await countStatistics(
          { db: db.read, nowMs, prices },
          { tenantId: tenant.tenant_id, timeZone: tenant.time_zone },
          { since: since ?? yearBefore(nowMs), until, interval, groupBy: by, timeZone },
          { onlyPriced: true, costs: true, deliveries: false },
        );
        return { series, names: await namesOf(db.read, tenant.tenant_id, by, series) };
      });
      const rows = series.flatMap(point => rowsOf(by, point, names));
      if (!csv) return print(rows, json);
      const header = ['start', ...by.flatMap(columnsOf), 'messages', 'unpriced', 'amount', 'currency'];
      process.stdout.write(csvLine(header) + rows.map(row => csvLine(Object.values(row))).join(''));
    });
}

function yearBefore(ms: number): string {
  const at = new Date(ms);
  at.setUTCFullYear(at.getUTCFullYear() - 1);
  return at.toISOString();
}

import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../config.ts';
import { csvLine } from '../features/contacts/exports/csv.ts';
import { readPriceTable } from '../features/messages/pricing/price-table.ts';
import { DIMENSIONS, type Dimension } from '../features/messages/statistics/dimensions.ts';
import { countStatistics, type Point } from '../features/messages/statistics/statistics.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { systemClock } from '../platform/clock.ts';
import { parseDateTime } from '../platform/date-time.ts';
import { print, withDatabase } from './database.ts';

interface Options {
  readonly since?: string;
  readonly until?: string;
  readonly interval: 'hour' | 'day' | 'week' | 'month';
  readonly by: readonly Dimension[];
  readonly timeZone?: string;
  readonly csv: boolean;
  readonly json: boolean;
}

/** What costs are grouped by, and the columns that this adds. */
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

/** One row for each currency; without a price one row without. */
const rowsOf = (by: readonly Dimension[], { startMs, count, cost, unpricedCount, ...values }: Point) =>
  (cost && cost.length > 0 ? cost : [{ amount: null, currency: null }]).map(({ amount, currency }) => ({
    start: new Date(startMs).toISOString(),
    ...Object.fromEntries(by.map(name => [name, values[DIMENSIONS[name].name]])),
    messages: count,
    unpriced: unpricedCount,
    amount,
    currency,
  }));

export function costsCommand(): Command {
  return new Command('costs')
    .description('list what messages cost, by month and category')
    .argument('<tenant>', 'slug of the tenant')
    .option('--since <date>', 'first day, or instant (default: a year ago)', date)
    .option('--until <date>', 'end, excluded (default: now)', date)
    .addOption(
      new Option('--interval <interval>', 'length of the intervals')
        .choices(['hour', 'day', 'week', 'month'])
        .default('month'),
    )
    .option('--by <names>', `${Object.keys(COLUMNS).join(', ')}, with commas between`, dimensions, ['category'])
    .option('--time-zone <name>', "in which intervals begin (default: the tenant's)")
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
      const prices = config.pricesFile === undefined ? undefined : await readPriceTable(config.pricesFile);
      const nowMs = systemClock.now();
      const { series } = await withDatabase(config, async db => {
        const tenant = await requireTenant(db.read, slug);
        return countStatistics(
          { db: db.read, nowMs, prices },
          { tenantId: tenant.tenant_id, timeZone: tenant.time_zone },
          { since: since ?? yearBefore(nowMs), until, interval, groupBy: by, timeZone },
          { onlyPriced: true, costs: true, deliveries: false },
        );
      });
      const rows = series.flatMap(point => rowsOf(by, point));
      if (!csv) return print(rows, json);
      const names = ['start', ...by, 'messages', 'unpriced', 'amount', 'currency'];
      process.stdout.write(csvLine(names) + rows.map(row => csvLine(Object.values(row))).join(''));
    });
}

function yearBefore(ms: number): string {
  const at = new Date(ms);
  at.setUTCFullYear(at.getUTCFullYear() - 1);
  return at.toISOString();
}

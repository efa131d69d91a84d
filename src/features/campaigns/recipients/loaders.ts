import type { PriceTable } from '../../../core/price-table.ts';
import { loader, valueLoader } from '../../../schema/loaders.ts';
import type { MoneyShape } from '../../../schema/money.ts';
import type { Progress } from './progress.ts';
import { getCosts, getProgress, getSkips, type SkipCount } from './store.ts';

const NONE: Progress = {
  id: 0,
  total: 0,
  pending: 0,
  skipped: 0,
  sent: 0,
  delivered: 0,
  read: 0,
  failed: 0,
  replied: 0,
  opted_out: 0,
  failures: [],
};

export const progressLoader = valueLoader<Progress>(getProgress, NONE);

export const skipLoader = valueLoader<readonly SkipCount[]>(getSkips, []);

/** Costs by campaign; a process has one price table. */
export const costLoader = loader<{ readonly id: number; readonly prices: PriceTable | undefined }, MoneyShape[]>(
  (db, tenantId, keys) =>
    getCosts(
      db,
      tenantId,
      keys.map(({ id }) => id),
      keys[0]?.prices,
    ),
);

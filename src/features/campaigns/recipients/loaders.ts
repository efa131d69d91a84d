import { valueLoader } from '../../../schema/loaders.ts';
import type { Progress } from './progress.ts';
import { getProgress, getSkips, type SkipCount } from './store.ts';

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
  costs: [],
};

export const progressLoader = valueLoader<Progress>(getProgress, NONE);

export const skipLoader = valueLoader<readonly SkipCount[]>(getSkips, []);

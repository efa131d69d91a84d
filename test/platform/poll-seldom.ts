import { PgBoss } from 'pg-boss';

/** Far more than a test waits for anything. */
const SELDOM_SECONDS = 300;

/**
 * Puts the polls of the job queue so far apart that a lane is drained because it was woken, or not at all: a test need not
 * measure which of the two it was. @returns a function that ends it, for the files that share the module
 */
export function pollSeldom(): () => void {
  const { work } = PgBoss.prototype;
  PgBoss.prototype.work = function (this: PgBoss, name: string, options: object, handler: never) {
    return work.call(this, name, { ...options, pollingIntervalSeconds: SELDOM_SECONDS }, handler);
  } as never;
  return () => {
    PgBoss.prototype.work = work;
  };
}

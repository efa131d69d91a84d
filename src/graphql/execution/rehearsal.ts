import { conflict } from '../../core/errors.ts';
import type { Db } from '../../database/database.ts';
import type { Resources } from '../../schema/context.ts';

/** Resources that a rehearsed operation may use besides database reads. */
const HARMLESS = ['config', 'clock', 'log', 'logGeneration', 'horizon', 'metrics', 'secrets', 'bus'] as const;

const endOfRehearsal = (): Error => conflict('The operation was only rehearsed.');

/** Stands for a resource: any use of it ends the rehearsal. */
const FORBIDDEN: object = new Proxy(
  {},
  {
    get() {
      throw endOfRehearsal();
    },
  },
);

/**
 * Resources with which an operation can be validated and do nothing: it reads, its first transaction is rolled back and ends it, and
 * so does any other write or call outside. A new resource is forbidden until it is listed.
 */
export function rehearsalOf(resources: Resources): Resources {
  const forbidden = Object.fromEntries(Object.keys(resources).map(name => [name, FORBIDDEN]));
  const harmless = Object.fromEntries(HARMLESS.map(name => [name, resources[name]]));
  const db = {
    read: resources.db.read,
    write: FORBIDDEN,
    leases: FORBIDDEN,
    // Many checks run in the transaction of a change, behind its locks.
    transaction: (work: (trx: Db) => Promise<unknown>) =>
      resources.db.transaction(async trx => {
        await work(trx);
        throw endOfRehearsal();
      }),
    connect: () => Promise.reject(endOfRehearsal()),
    close: () => Promise.reject(endOfRehearsal()),
  };
  const sendBatches = { reads: resources.sendBatches.reads, writes: FORBIDDEN };
  return { ...forbidden, ...harmless, db, sendBatches } as unknown as Resources;
}

import { conflict } from '../../core/errors.ts';
import type { Resources } from '../../schema/context.ts';

/** Resources that a rehearsed operation may use besides database reads. */
const HARMLESS = ['config', 'clock', 'log', 'logGeneration', 'horizon', 'metrics', 'secrets', 'bus'] as const;

const ended = (): Error => conflict('The operation was only rehearsed.');

/** Stands for a resource: any use of it ends the rehearsal. */
const FORBIDDEN: object = new Proxy(
  {},
  {
    get() {
      throw ended();
    },
  },
);

/**
 * Resources with which an operation can be validated and do nothing: it reads, and its first write, transaction or call outside
 * ends it. A new resource is forbidden until it is listed.
 */
export function rehearsalOf(resources: Resources): Resources {
  const forbidden = Object.fromEntries(Object.keys(resources).map(name => [name, FORBIDDEN]));
  const harmless = Object.fromEntries(HARMLESS.map(name => [name, resources[name]]));
  const db = {
    read: resources.db.read,
    write: FORBIDDEN,
    leases: FORBIDDEN,
    transaction: () => Promise.reject(ended()),
    connect: () => Promise.reject(ended()),
    close: () => Promise.reject(ended()),
  };
  const sendBatches = { reads: resources.sendBatches.reads, writes: FORBIDDEN };
  return { ...forbidden, ...harmless, db, sendBatches } as unknown as Resources;
}

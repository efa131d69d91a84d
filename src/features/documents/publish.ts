import type { GraphQLSchema } from 'graphql';
import { FieldErrorList } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import { lockTenantUsage } from '../../database/tenant-lock.ts';
import type { Context } from '../../schema/context.ts';
import { once } from '../tenancy/idempotency/once.ts';
import { checkDocument, digestOf } from './document.ts';
import { countDocuments, type DocumentRow, findDocuments, insertDocuments } from './store.ts';

/** Documents of one call. */
const MAX_BATCH = 500;
/** Documents of a tenant. */
const MAX_DOCUMENTS = 2_000;

/**
 * Publishes documents; those that exist already are kept.
 * @returns the documents in the order of their texts
 * @throws VALIDATION_ERROR with every fault of every document
 */
export function publish(
  context: Context,
  schema: GraphQLSchema,
  bodies: readonly string[],
  key: string | null | undefined,
): Promise<readonly DocumentRow[]> {
  const tenantId = tenantOf(context);
  const hashes = bodies.map(digestOf);
  const rowsIn = async (rows: readonly DocumentRow[]): Promise<readonly DocumentRow[]> =>
    hashes.flatMap(hash => rows.find(row => row.hash.equals(hash)) ?? []);
  return once(
    context,
    { operation: 'publishDocuments', key, input: { bodies } },
    {
      async run(trx) {
        const documents = check(schema, bodies).map((name, index) => ({
          hash: hashes[index] as Buffer,
          name,
          body: bodies[index] as string,
        }));
        const distinct = [...new Map(documents.map(one => [one.hash.toString('hex'), one])).values()];
        // Serialises publications, so that their limit is exact.
        await lockTenantUsage(trx, tenantId);
        await insertDocuments(trx, tenantId, distinct);
        if ((await countDocuments(trx, tenantId)) > MAX_DOCUMENTS) {
          const errors = new FieldErrorList();
          errors.add('documents', `An account may have at most ${MAX_DOCUMENTS} documents.`, 'TOO_MANY');
          throw errors.toError();
        }
        return rowsIn(await findDocuments(trx, tenantId, hashes));
      },
      store: () => ({}),
      rebuild: async () => rowsIn(await findDocuments(context.db.write, tenantId, hashes)),
    },
  );
}

/** @returns the names of the documents */
function check(schema: GraphQLSchema, bodies: readonly string[]): string[] {
  const errors = new FieldErrorList();
  if (bodies.length === 0) errors.add('documents', 'At least one document is required.', 'REQUIRED');
  if (bodies.length > MAX_BATCH) errors.add('documents', `May have at most ${MAX_BATCH} items.`, 'TOO_MANY');
  errors.throwIfAny();
  const names = bodies.map((body, index) => {
    const checked = checkDocument(schema, body);
    if ('name' in checked) return checked.name;
    for (const fault of checked.faults) errors.add(`documents.${index}`, fault);
    return '';
  });
  errors.throwIfAny();
  return names;
}

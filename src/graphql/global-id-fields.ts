import { type GraphQLSchema, isInterfaceType, isObjectType } from 'graphql';
import { encodeGlobalId } from '../global-ids.ts';

/**
 * Gives the `id` of every node a resolver that answers at once. The relay plugin's is an async function: a promise for
 * each object of a list, and two hundred promises cost more than the rest of a page's execution (117 µs against 83 for
 * 50 contacts with source, status and groups).
 */
export function resolveGlobalIdsAtOnce(schema: GraphQLSchema): void {
  const node = schema.getType('Node');
  if (!isInterfaceType(node)) return;
  for (const type of schema.getPossibleTypes(node)) {
    const field = isObjectType(type) ? type.getFields()['id'] : undefined;
    const slow = field?.resolve;
    if (!field || !slow) continue;
    field.resolve = (row: { readonly id?: unknown }, args, context, info) =>
      typeof row.id === 'number' || typeof row.id === 'string' ? encodeGlobalId(type.name, row.id) : slow(row, args, context, info);
  }
}

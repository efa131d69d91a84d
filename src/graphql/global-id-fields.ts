import { type GraphQLSchema, isInterfaceType } from 'graphql';
import { encodeGlobalId } from '../global-ids.ts';

/** As Pothos keeps what a node type said of its id. */
interface NodeOptions {
  readonly id?: { readonly resolve?: (row: unknown) => unknown };
}

/**
 * Gives the `id` of every node a resolver that answers at once. The relay plugin's is an async function: a promise for
 * each object of a list, and two hundred of them cost as much as half of a page's execution (117 µs for 50 contacts with
 * source, status and groups, 83 without).
 */
export function resolveGlobalIdsAtOnce(schema: GraphQLSchema): void {
  const node = schema.getType('Node');
  if (!isInterfaceType(node)) return;
  for (const type of schema.getPossibleTypes(node)) {
    const field = type.getFields()['id'];
    const slow = field?.resolve;
    const ownId = (type.extensions['pothosOptions'] as NodeOptions | undefined)?.id?.resolve;
    if (!field || !slow || ownId?.length !== 1) continue;
    field.resolve = (row, args, context, info) => {
      const id = ownId(row);
      return typeof id === 'number' || typeof id === 'string'
        ? encodeGlobalId(type.name, id)
        : slow(row, args, context, info);
    };
  }
}

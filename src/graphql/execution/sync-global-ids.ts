import { type GraphQLSchema, isInterfaceType } from 'graphql';
import { encodeGlobalId } from '../../core/global-ids.ts';

/** The options of a node type as Pothos stores them. */
interface NodeOptions {
  readonly id?: { readonly resolve?: (row: unknown) => unknown };
}

/**
 * Replaces the async `id` resolvers of Pothos' relay plugin with synchronous ones. A promise per object is a third of a page's
 * execution: 50 contacts with source, status and groups take 117 µs with it and 83 µs without.
 */
export function resolveGlobalIdsSynchronously(schema: GraphQLSchema): void {
  const node = schema.getType('Node');
  if (!isInterfaceType(node)) return;
  for (const type of schema.getPossibleTypes(node)) {
    const field = type.getFields()['id'];
    const asyncResolve = field?.resolve;
    const ownId = (type.extensions['pothosOptions'] as NodeOptions | undefined)?.id?.resolve;
    if (!field || !asyncResolve || ownId?.length !== 1) continue;
    field.resolve = (row, args, context, info) => {
      const id = ownId(row);
      return typeof id === 'number' || typeof id === 'string'
        ? encodeGlobalId(type.name, id)
        : asyncResolve(row, args, context, info);
    };
  }
}

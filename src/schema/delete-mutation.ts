import { encodeGlobalId, requireId } from '../core/global-ids.ts';
import { tenantOf } from '../core/principal.ts';
import type { Scope } from '../core/scopes.ts';
import { builder, IDEMPOTENCY_KEY } from './builder.ts';
import type { Context } from './context.ts';
import { DeletePayload, mutation } from './payload.ts';

interface DeleteOptions {
  /** The type in descriptions: `canned reply`. */
  readonly noun: string;
  readonly description: string;
  readonly scope: Scope;
  /** Deletes the object of the tenant. @throws NOT_FOUND */
  remove(context: Context, id: number, idempotencyKey: string | null | undefined): Promise<unknown>;
}

/** Defines `delete<Type>` and its input, for a type with numeric ids. */
export function deleteMutation(typename: string, { noun, description, scope, remove }: DeleteOptions): void {
  mutation(`delete${typename}`, {
    description,
    scope,
    input: builder.inputType(`Delete${typename}Input`, {
      description: `The ${noun} to delete.`,
      fields: t => ({
        id: t.id({ required: true, description: `Global id or databaseId of the ${noun}.` }),
        idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
      }),
    }),
    payload: DeletePayload,
    resolve: async (input, context) => {
      const id = requireId(tenantOf(context), typename, input.id);
      await remove(context, id, input.idempotencyKey);
      return { deletedId: encodeGlobalId(typename, tenantOf(context), id) };
    },
  });
}

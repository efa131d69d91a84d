import type { InputRef, InterfaceRef, ObjectRef } from '@pothos/core';
import { type GraphQLInputObjectType, type GraphQLResolveInfo, getNamedType } from 'graphql';
import type { Scope } from '../core/scopes.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { withOtherFaults } from './other-faults.ts';
import { UserError, type UserErrorShape, userErrorsOf } from './user-errors.ts';

type Types = typeof builder.$inferSchemaTypes;

interface WithUserErrors {
  readonly userErrors?: readonly UserErrorShape[];
}

/** Result of a mutation: the properties of its payload, its errors, or both. */
export type Result<Shape extends object> = Partial<Shape> & WithUserErrors;

const Payload: InterfaceRef<Types, WithUserErrors> = builder.interfaceRef<WithUserErrors>('Payload').implement({
  description: 'The result of a mutation: its objects, and what kept it from them.',
  fields: t => ({
    userErrors: t.field({
      type: [UserError],
      description: 'All faults of the input, or why it was refused. Empty on success.',
      resolve: ({ userErrors = [] }) => [...userErrors],
    }),
  }),
});

type PayloadFields<Shape extends object> = (
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, Result<Shape>>,
) => Record<string, unknown>;

/**
 * Defines a payload type. Its object fields are nullable, because they are null when the mutation is refused:
 *
 *     export const ContactPayload = payloadOf<{ contact: ContactRow }>('ContactPayload', 'A contact.', t => ({
 *       contact: t.field({ type: Contact, nullable: true, description: '…', resolve: ({ contact }) => contact ?? null }),
 *     }));
 */
export const payloadOf = <Shape extends object>(
  name: string,
  description: string,
  fields: PayloadFields<Shape>,
): ObjectRef<Types, Result<Shape>> =>
  builder.objectRef<Result<Shape>>(name).implement({
    description,
    interfaces: [Payload],
    fields: fields as never,
  });

/** Defines the payload of mutations that return one object, under its own name: `{ contact, userErrors }`. */
export const entityPayload = <Name extends string, Row extends object>(
  field: Name,
  type: ObjectRef<Types, Row>,
  description: string,
): ObjectRef<Types, Result<Record<Name, Row>>> =>
  payloadOf<Record<Name, Row>>(`${type.name}Payload`, `Result of a mutation of a ${type.name}.`, t => ({
    [field]: t.field({
      type,
      nullable: true,
      description,
      resolve: payload => (payload[field] as never) ?? null,
    }),
  }));

/** Payload of every mutation that deletes one object. */
export const DeletePayload = payloadOf<{ deletedId: string }>('DeletePayload', 'Result of deleting an object.', t => ({
  deletedId: t.id({
    nullable: true,
    description: 'Global id of the deleted object; null if nothing was deleted.',
    resolve: ({ deletedId }) => deletedId ?? null,
  }),
}));

interface QueryOptions<Input extends object, Shape extends object> extends MutationOptions<Input, Shape> {
  /** Cost against the rate limits. */
  readonly points: number;
}

interface MutationOptions<Input extends object, Shape extends object> {
  readonly description: string;
  /** Undefined: any token will do. */
  readonly scope: Scope | readonly Scope[] | undefined;
  /** Has `idempotencyKey` among its fields. */
  readonly input: InputRef<Input>;
  readonly payload: ObjectRef<Types, Result<Shape>>;
  /** Runs in its own transaction. Coded errors that a user can act on become `userErrors`. */
  resolve(input: Input, context: Context, info: GraphQLResolveInfo): Promise<Result<Shape>>;
}

/** The resolver of a field with one `input`, whose payload has the errors of the user: all faults of the input at once. */
const payloadResolver =
  <Input extends object, Shape extends object>(resolve: MutationOptions<Input, Shape>['resolve']) =>
  (_root: unknown, { input }: { readonly input: Input }, context: Context, info: GraphQLResolveInfo) =>
    withUserErrors(input, async () => {
      try {
        return await resolve(input, context, info);
      } catch (error) {
        throw await withOtherFaults(error, input, inputTypeOf(info), context, (repaired, rehearsal) =>
          resolve(repaired as Input, rehearsal, info),
        );
      }
    });

function inputTypeOf({ parentType, fieldName }: GraphQLResolveInfo): GraphQLInputObjectType {
  const type = parentType.getFields()[fieldName]?.args.find(({ name }) => name === 'input')?.type;
  return getNamedType(type) as GraphQLInputObjectType;
}

/** Defines a query that answers as a mutation would, but changes nothing: a payload, with errors of the user as data. */
export function queryPayload<Input extends object, Shape extends object>(
  name: string,
  { description, scope, points, input, payload, resolve }: QueryOptions<Input, Shape>,
): void {
  builder.queryField(name, t =>
    t.field({
      type: payload,
      description,
      extensions: { points },
      authScopes: scope === undefined ? { token: true } : { scope },
      args: { input: t.arg({ type: input, required: true, description: `Input of \`${name}\`.` }) },
      resolve: payloadResolver(resolve) as never,
    }),
  );
}

/** Runs the work of a payload, and returns errors that a user can act on in it. @param input the paths of errors refer to it */
export async function withUserErrors<Shape extends object>(
  input: object,
  work: () => Promise<Result<Shape>>,
): Promise<Result<Shape>> {
  try {
    return await work();
  } catch (error) {
    const userErrors = userErrorsOf(error, input);
    if (!userErrors) throw error;
    return { userErrors } as Result<Shape>;
  }
}

/** Defines a mutation by the conventions of the schema: one `input`, a nullable payload, errors of the user as data. */
export function mutation<Input extends object, Shape extends object>(
  name: string,
  { description, scope, input, payload, resolve }: MutationOptions<Input, Shape>,
): void {
  builder.mutationField(name, t =>
    t.field({
      type: payload,
      description,
      authScopes: scope === undefined ? { token: true } : { scope },
      args: { input: t.arg({ type: input, required: true, description: `Input of \`${name}\`.` }) },
      // Pothos cannot resolve the types of arguments and payload while both are parameters.
      resolve: payloadResolver(resolve) as never,
    }),
  );
}

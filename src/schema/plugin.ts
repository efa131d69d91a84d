import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import {
  DirectiveLocation,
  GraphQLDirective,
  type GraphQLEnumType,
  type GraphQLFieldConfig,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';

/**
 * Adds to every field of the schema:
 *
 * - Root fields of queries and mutations are nullable, so that a refused field nulls only itself. Fields that are declared non-null
 *   are null only on an error, which `@semanticNonNull` states.
 * - A field with `authScopes` carries `@requiresScopes` and names the scopes in its description, both from the declaration that
 *   is enforced.
 * - The id of a node is resolved synchronously. Relay's plugin does it by an async function: two hundred promises for fifty contacts
 *   with source, status and groups, a third of the execution of such a page (117 µs instead of 83).
 */
class ParleyPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const directives: Record<string, object> = { ...(field.extensions?.['directives'] as object | undefined) };
    const scopes = scopesOf(field.pothosOptions as Declared, `${field.parentType}.${field.name}`);
    const isRoot = field.kind === 'Query' || field.kind === 'Mutation';
    if (isRoot && !field.type.nullable) directives['semanticNonNull'] = {};
    if (scopes.length > 0) directives['requiresScopes'] = { scopes };
    return {
      ...field,
      ...this.#nodeId(field),
      type: isRoot ? { ...field.type, nullable: true } : field.type,
      extensions: { ...field.extensions, directives },
      ...(scopes.length > 0 && {
        description: `${field.description ?? ''} Requires the scope ${inWords(scopes)}.`.trim(),
      }),
    };
  }

  #nodeId({ name, parentType }: PothosOutputFieldConfig<Types>): Pick<GraphQLFieldConfig<unknown, object>, 'resolve'> {
    if (name !== 'id') return {};
    const { id } = this.builder.configStore.getTypeConfig(parentType).pothosOptions as NodeOptions;
    const encode = this.builder.options.relay?.encodeGlobalID;
    return id && encode ? { resolve: (node, _args, context) => encode(parentType, id.resolve(node), context) } : {};
  }
}

/** Of the options of `builder.node`; other types have no `id`. */
interface NodeOptions {
  readonly id?: { resolve(node: unknown): number | string };
}

interface Declared {
  readonly authScopes?: unknown;
}

/**
 * The scopes of a field: alternatives, each of which is a list of scopes that are all required (as in Apollo Federation).
 * @throws for a function, which cannot be printed
 */
function scopesOf({ authScopes }: Declared, field: string): readonly (readonly string[])[] {
  if (authScopes === undefined) return [];
  if (typeof authScopes !== 'object' || authScopes === null)
    throw new Error(`${field}: declare authScopes as an object.`);
  const { scope, anyScope } = authScopes as {
    readonly scope?: string | readonly string[];
    readonly anyScope?: readonly string[];
  };
  if (anyScope) return anyScope.map(one => [one]);
  return scope === undefined ? [] : [[scope].flat()];
}

const inWords = (scopes: readonly (readonly string[])[]): string =>
  scopes.map(all => all.map(scope => `\`${scope}\``).join(' and ')).join(' or ');

const listOf = (item: GraphQLInputType) => new GraphQLNonNull(new GraphQLList(item));

/** @param scope the enum of the built schema: a second type of its name would be rejected */
export const requiresScopes = (scope: GraphQLEnumType): GraphQLDirective =>
  new GraphQLDirective({
    name: 'requiresScopes',
    description: 'Scopes that the caller needs: all of one of these lists.',
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: {
      scopes: {
        description: 'Alternatives, each a list of scopes that are all required.',
        type: listOf(listOf(new GraphQLNonNull(scope))),
      },
    },
  });

export const semanticNonNull = new GraphQLDirective({
  name: 'semanticNonNull',
  description: 'Null only if `errors` has an error for this position.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      description: 'Depths of lists to which this applies; 0 is the field itself.',
      type: listOf(new GraphQLNonNull(GraphQLInt)),
      defaultValue: [0],
    },
  },
});

SchemaBuilder.registerPlugin('parley', ParleyPlugin);

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      parley: ParleyPlugin<Types>;
    }
  }
}

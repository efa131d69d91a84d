import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { operationOf, switchesOf, switchOf } from '../sparse.ts';
import { exampleOf } from './examples.ts';
import { inWords } from './in-words.ts';
import { orNull } from './input.ts';
import type { JsonSchema } from './shape.ts';

/** A field of an answer, as its document selects it. */
interface Selected {
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly node: FieldNode;
  /** Not there in every answer: it has a switch, or belongs to one of several types. */
  readonly optional: boolean;
}

/** How a version writes what JSON has no type for, or another one. */
export interface WireSchemas {
  readonly time: JsonSchema;
  readonly flag: JsonSchema;
}

/** What a document selects, read with the schema: types, descriptions, which fields may be missing. */
export class Selections {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #root: readonly Selected[];
  readonly #wire: WireSchemas;
  /** The switches that no request sets, and whether they are on. */
  readonly #fixed = new Map<string, boolean>();

  /** @param whole rows show all that they have, and of the objects to be included these */
  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    wire: WireSchemas,
    whole: { readonly always: readonly string[] } | undefined,
  ) {
    const operation = operationOf(document);
    const type = operation && schema.getRootType(operation.operation);
    if (!operation || !type) throw new Error('A route needs a document with one operation.');
    this.#schema = schema;
    this.#wire = wire;
    const { fields, includes } = switchesOf(document);
    for (const name of whole ? [...fields, ...includes] : [])
      this.#fixed.set(switchOf(name), fields.includes(name) || whole?.always.includes(name) === true);
    this.#fragments = new Map(
      document.definitions.flatMap(node => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
    );
    this.#root = this.#fieldsOf(type, operation.selectionSet);
  }

  /** The field that does the work: the first one. */
  get main(): { readonly key: string; readonly field: GraphQLField<unknown, unknown> } {
    const [main] = this.#root;
    if (!main) throw new Error('The document selects nothing.');
    return main;
  }

  /**
   * The schema of the selection at a path of the answer's names, such as `contacts.nodes`. Lists on the way are stepped into.
   * @returns the name of the fragment too, where the selection is nothing but one
   */
  at(path: string): { readonly schema: JsonSchema; readonly fragment: string | undefined } {
    let fields = this.#root;
    let found: Selected | undefined;
    for (const key of path.split('.')) {
      found = fields.find(selected => selected.key === key);
      if (!found) throw new Error(`The document selects no ${path}.`);
      fields = this.#below(found);
    }
    if (!found) throw new Error('A path may not be empty.');
    return { schema: this.#objectOrLeaf(found), fragment: soleFragment(found.node) };
  }

  #below({ field, node }: Selected): readonly Selected[] {
    const type = named(field.type);
    return node.selectionSet && (isObjectType(type) || isAbstractType(type))
      ? this.#fieldsOf(type, node.selectionSet)
      : [];
  }

  #objectOrLeaf(selected: Selected): JsonSchema {
    const fields = this.#below(selected);
    if (fields.length === 0) return this.#leaf(named(selected.field.type), selected.key);
    return closedObject(
      Object.fromEntries(fields.map(field => [field.key, this.#described(field)])),
      fields.filter(field => !field.optional).map(field => field.key),
    );
  }

  #described(selected: Selected): JsonSchema {
    const schema = this.#typed(selected.field.type, selected);
    const { description } = selected.field;
    return description ? { description: inWords(description, selected.field.type), ...schema } : schema;
  }

  #typed(type: GraphQLOutputType, selected: Selected): JsonSchema {
    if (!isNonNullType(type)) return orNull(this.#present(type, selected));
    return this.#present(type.ofType, selected);
  }

  #present(type: GraphQLOutputType, selected: Selected): JsonSchema {
    if (isListType(type)) return { type: 'array', items: this.#typed(type.ofType, selected) };
    return this.#objectOrLeaf(selected);
  }

  #leaf(type: GraphQLOutputType, name: string): JsonSchema {
    if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(value => value.name.toLowerCase()) };
    switch ('name' in type ? type.name : '') {
      case 'BigInt':
        return { type: 'integer', format: 'int64', ...exampleOf(name, 'integer') };
      case 'Int':
        return { type: 'integer', ...exampleOf(name, 'integer') };
      case 'Float':
        return { type: 'number' };
      case 'Boolean':
        return this.#wire.flag;
      case 'DateTime':
        return this.#wire.time;
      case 'JSON':
        return {};
      default:
        return { type: 'string', ...exampleOf(name, 'string') };
    }
  }

  /** Whether a selection is there: always, never, or as the request says (undefined). */
  #conditionOf({ directives = [] }: SelectionNode): boolean | undefined {
    const [directive] = directives;
    if (!directive) return true;
    const [condition] = directive.arguments ?? [];
    return condition?.value.kind === Kind.VARIABLE ? this.#fixed.get(condition.value.name.value) : undefined;
  }

  #fieldsOf(type: GraphQLOutputType, set: SelectionSetNode, optional = false): Selected[] {
    const fields = new Map<string, Selected>();
    for (const selection of set.selections) {
      const condition = this.#conditionOf(selection);
      if (condition === false) continue;
      const switched = optional || condition === undefined;
      if (selection.kind === Kind.FIELD) {
        const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[selection.name.value] : undefined;
        const key = (selection.alias ?? selection.name).value;
        // What GraphQL says about itself, such as `__typename`, no route puts on the wire.
        if (field) fields.set(key, { key, field, node: selection, optional: switched });
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : selection;
      if (!fragment) continue;
      const on = fragment.typeCondition?.name.value;
      const target = (on === undefined ? type : this.#schema.getType(on)) as GraphQLOutputType;
      for (const field of this.#fieldsOf(target, fragment.selectionSet, switched || target !== type))
        if (!fields.has(field.key)) fields.set(field.key, field);
    }
    return [...fields.values()];
  }
}

/** An object that has these fields and no other. */
export const closedObject = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});

function named(type: GraphQLOutputType): GraphQLOutputType {
  return isNonNullType(type) || isListType(type) ? named(type.ofType) : type;
}

function soleFragment({ selectionSet }: FieldNode): string | undefined {
  const [only, ...others] = selectionSet?.selections ?? [];
  return only?.kind === Kind.FRAGMENT_SPREAD && others.length === 0 ? only.name.value : undefined;
}

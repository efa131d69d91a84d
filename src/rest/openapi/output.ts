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
import { IS_NUMERIC } from '../../core/global-ids.ts';
import { operationOf, switchesOf, switchOf } from '../runtime/sparse.ts';
import { exampleOf, restDescription } from './annotations.ts';
import type { Components } from './components.ts';
import { closedObject, type JsonSchema, orNull } from './schema.ts';

/** A field of an answer, as its document selects it. */
interface Selected {
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly node: FieldNode;
  /** Whether it may be missing: it has a switch, or belongs to one of several types. */
  readonly optional: boolean;
}

/** How a version writes times and booleans. */
export interface WireSchemas {
  readonly time: JsonSchema;
  readonly flag: JsonSchema;
}

/** The selection of a document as JSON Schema: types, descriptions, optional fields. The selection of a fragment is a component. */
export class Selections {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #root: readonly Selected[];
  readonly #wire: WireSchemas;
  readonly #components: Components;
  /** Values of the switches that requests cannot set. */
  readonly #fixed = new Map<string, boolean>();

  /** @param complete rows show all fields, and these included objects */
  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    wire: WireSchemas,
    components: Components,
    complete: { readonly always: readonly string[] } | undefined,
  ) {
    const operation = operationOf(document);
    const type = operation && schema.getRootType(operation.operation);
    if (!operation || !type) throw new Error('A route needs a document with one operation.');
    this.#schema = schema;
    this.#wire = wire;
    this.#components = components;
    const { fields, includes } = switchesOf(document);
    for (const name of complete ? [...fields, ...includes] : [])
      this.#fixed.set(switchOf(name), fields.includes(name) || complete?.always.includes(name) === true);
    this.#fragments = new Map(
      document.definitions.flatMap(node => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
    );
    this.#root = this.#fieldsOf(type, operation.selectionSet);
  }

  /** The first field, which has the operation's arguments, description and scopes. */
  get main(): { readonly key: string; readonly field: GraphQLField<unknown, unknown> } {
    const [main] = this.#root;
    if (!main) throw new Error('The document selects nothing.');
    return main;
  }

  /** The path of the object that the operation returns: of a mutation, the first field of its payload. */
  get object(): { readonly path: string; readonly type: GraphQLOutputType } {
    const [main] = this.#root;
    if (!main) throw new Error('The document selects nothing.');
    const type = named(main.field.type);
    const isPayload = isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Payload');
    const [entity] = isPayload ? this.#below(main) : [];
    return entity ? { path: `${main.key}.${entity.key}`, type: named(entity.field.type) } : { path: main.key, type };
  }

  /**
   * The schema of the selection at a path, such as `contacts.nodes`, through lists.
   * @returns also the name of the component, if the selection is exactly a fragment
   */
  at(path: string): { readonly schema: JsonSchema; readonly component: string | undefined } {
    let fields = this.#root;
    let found: Selected | undefined;
    for (const key of path.split('.')) {
      found = fields.find(selected => selected.key === key);
      if (!found) throw new Error(`The document selects no ${path}.`);
      fields = this.#below(found);
    }
    if (!found) throw new Error('A path may not be empty.');
    return { schema: this.#objectOrLeaf(found), component: componentOf(found.node) };
  }

  #below({ field, node }: Selected): readonly Selected[] {
    const type = named(field.type);
    return node.selectionSet && (isObjectType(type) || isAbstractType(type))
      ? this.#fieldsOf(type, node.selectionSet)
      : [];
  }

  #objectOrLeaf(selected: Selected): JsonSchema {
    const fields = this.#below(selected);
    if (fields.length === 0)
      return selected.field.extensions[IS_NUMERIC] === true
        ? { type: 'integer', format: 'int64', ...exampleOf(selected.key, 'integer') }
        : this.#leaf(named(selected.field.type), selected.key);
    return closedObject(
      Object.fromEntries(fields.map(field => [field.key, this.#described(field)])),
      fields.filter(field => !field.optional).map(field => field.key),
    );
  }

  #described(selected: Selected): JsonSchema {
    const schema = this.#typed(selected.field.type, selected);
    const { description } = selected.field;
    return description ? { description: restDescription(description, selected.field.type), ...schema } : schema;
  }

  #typed(type: GraphQLOutputType, selected: Selected): JsonSchema {
    if (!isNonNullType(type)) return orNull(this.#present(type, selected));
    return this.#present(type.ofType, selected);
  }

  #present(type: GraphQLOutputType, selected: Selected): JsonSchema {
    if (isListType(type)) return { type: 'array', items: this.#typed(type.ofType, selected) };
    const component = componentOf(selected.node);
    const schema = this.#objectOrLeaf(selected);
    return component === undefined ? schema : this.#components.add('schemas', component, schema);
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

  /** Whether a selection is present: always, never, or depending on the request (undefined). */
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
        // Meta fields, such as `__typename`, are never in an answer.
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

function named(type: GraphQLOutputType): GraphQLOutputType {
  return isNonNullType(type) || isListType(type) ? named(type.ofType) : type;
}

/** The component of a field whose selection is one fragment: `Contact` for the fragment `ContactRow`. */
function componentOf({ selectionSet }: FieldNode): string | undefined {
  const [only, ...others] = selectionSet?.selections ?? [];
  return only?.kind === Kind.FRAGMENT_SPREAD && others.length === 0 ? only.name.value.replace(/Row$/, '') : undefined;
}

import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  typeFromAST,
} from 'graphql';
import { operationOf } from '../sparse.ts';
import { wireName } from '../wire-names.ts';
import type { Components } from './components.ts';
import { inputSchema } from './input.ts';
import { closedObject, type Selections } from './output.ts';
import type { Changes, Fields, JsonSchema, Shape } from './shape.ts';

type Place = 'body' | 'answer';

/** Turns the shapes of one route into JSON Schema, with what its document and the GraphQL schema know. */
export class ShapeReader {
  readonly #schema: GraphQLSchema;
  readonly #document: DocumentNode;
  readonly #components: Components;
  readonly #selections: Selections;

  constructor(schema: GraphQLSchema, document: DocumentNode, components: Components, selections: Selections) {
    this.#schema = schema;
    this.#document = document;
    this.#components = components;
    this.#selections = selections;
  }

  /** @param place fields of a body may be missing unless they are required; those of an answer are there unless they are optional */
  read(shape: Shape, place: Place): JsonSchema {
    switch (shape.kind) {
      case 'plain':
        return shape.schema;
      case 'list':
        return { type: 'array', ...shape.schema, items: this.read(shape.of, place) };
      case 'object': {
        const properties = this.#properties(shape.fields, place);
        const isThere = ([, field]: [string, Shape]) => field.required ?? place === 'answer';
        const names = Object.entries(shape.fields)
          .filter(isThere)
          .map(([name]) => name);
        return { ...objectOf(properties, names, place), ...shape.schema };
      }
      case 'given':
        return this.#changed(this.#given(shape.path), shape, place);
      case 'selected': {
        const { schema, fragment } = this.#selections.at(shape.path);
        const changed = this.#changed(schema, shape, place);
        return fragment ? this.#components.add('schemas', fragment.replace(/Row$/, ''), changed) : changed;
      }
    }
  }

  #properties(fields: Fields, place: Place): Record<string, JsonSchema> {
    return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, this.read(field, place)]));
  }

  #changed(schema: JsonSchema, { without = [], with: others = {} }: Changes, place: Place): JsonSchema {
    if (without.length === 0 && Object.keys(others).length === 0) return schema;
    const taken = { ...(schema['properties'] as Record<string, JsonSchema> | undefined) };
    for (const name of without) {
      if (!Object.hasOwn(taken, name)) throw new Error(`There is no ${name} to leave out.`);
      delete taken[name];
    }
    const required = new Set((schema['required'] as readonly string[] | undefined) ?? []);
    for (const [name, { required: said }] of Object.entries(others)) {
      const isThere = said ?? (Object.hasOwn(taken, name) ? required.has(name) : place === 'answer');
      if (isThere) required.add(name);
      else required.delete(name);
    }
    for (const name of without) required.delete(name);
    return { ...schema, ...objectOf({ ...taken, ...this.#properties(others, place) }, [...required], place) };
  }

  /** A variable, or a field below it, by GraphQL's names. */
  #given(path: string): JsonSchema {
    const [variable, ...names] = path.split('.');
    const definition = operationOf(this.#document)?.variableDefinitions?.find(
      ({ variable: { name } }) => name.value === variable,
    );
    const type = definition && typeFromAST(this.#schema, definition.type as never);
    if (!isInputType(type)) throw new Error(`The document has no variable ${variable}.`);
    let at: GraphQLInputType = type;
    let description: string | null | undefined;
    for (const name of names) {
      const object = innermost(at);
      const field = isInputObjectType(object) ? object.getFields()[name] : undefined;
      if (!field) throw new Error(`The input has no ${path}.`);
      ({ type: at, description } = field);
    }
    return inputSchema(at, wireName(names.at(-1) ?? ''), description ?? '');
  }
}

const objectOf = (properties: Record<string, JsonSchema>, required: readonly string[], place: Place): JsonSchema =>
  place === 'answer'
    ? closedObject(properties, required)
    : { type: 'object', properties, ...(required.length > 0 && { required }) };

function innermost(type: GraphQLInputType): GraphQLInputType {
  return isNonNullType(type) || isListType(type) ? innermost(type.ofType) : type;
}

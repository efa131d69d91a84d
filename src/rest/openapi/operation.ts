import {
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
  typeFromAST,
} from 'graphql';
import { z } from 'zod';
import { IS_NUMERIC } from '../../core/global-ids.ts';
import { costOf, scopesOf } from '../runtime/requirements.ts';
import { isChange, type Route } from '../runtime/route.ts';
import { operationOf, switchesOf } from '../runtime/sparse.ts';
import { annotate, fieldsOf } from './annotations.ts';
import type { Components } from './components.ts';
import type { ApiDescription } from './description.ts';
import { Selections } from './output.ts';
import { listParameters, rowParameters } from './parameters.ts';
import { codesOf, failureResponses, successResponses } from './responses.ts';
import {
  closedObject,
  closeObjects,
  type Derived,
  type JsonSchema,
  jsonSchemaOf,
  named,
  rowId,
  type SchemaOverrides,
  selectionOf,
} from './schema.ts';

/** One route as an Operation Object. */
export function describeOperation(
  route: Route,
  schema: GraphQLSchema,
  api: ApiDescription,
  components: Components,
): JsonSchema {
  const complete = api.rows === 'complete' ? { always: route.always ?? [] } : undefined;
  const [document] = route.documents;
  const selections = new Selections(schema, document, api.wire, components, complete);
  const operation = operationOf(document);
  const { field } = selections.main;
  const rows = complete || route.withoutEnvelope ? { fields: [], includes: [] } : switchesOf(document);
  const scopes = scopesOf(field);
  // As in the contract: a deletion that is repeated finds nothing to delete.
  const keyed = route.method !== 'DELETE' && takesKey(field);
  const resolve = (part: Derived): JsonSchema => {
    if (part.kind === 'sent') {
      const body = annotate(jsonSchemaOf(part.body), fieldsOf(schema.getType(part.input ?? '')));
      return closeObjects(body, api.wire.flag, part.nulls);
    }
    if (part.kind === 'named') return components.add('schemas', part.name, jsonSchemaOf(part.schema, resolve));
    const { schema: whole, component } = selections.at(part.path);
    const overridden = withOverrides(whole, part.overrides, resolve);
    return component ? components.add('schemas', component, overridden) : overridden;
  };
  const selected = selectionOf(route.list ? `${selections.main.key}.nodes` : selections.object.path);
  const answer = route.answer ?? (route.method === 'DELETE' ? DELETED : selected);
  const operationId = route.operationId ?? operation?.name?.value ?? '';
  const input = operation?.variableDefinitions?.find(({ variable }) => variable.name.value === 'input');
  const inputFields = [
    ...(input ? fieldsOf(typeFromAST(schema, input.type as never)) : field.args),
    ...(route.inputTypes ?? []).flatMap(name => fieldsOf(schema.getType(name))),
  ];
  return {
    operationId,
    ...(api.deprecated && { deprecated: true }),
    tags: [tagOf(route.path)],
    ...textOf(route, field),
    security: [{ bearer: scopes }],
    'x-rate-limit-cost': costOf(route, schema),
    parameters: [
      ...pathParameters(route, selections.object.type),
      ...(route.list ? listParameters(route.list, schema, components) : []),
      ...rowParameters(rows),
      ...(keyed ? [components.add('parameters', 'Idempotency-Key', IDEMPOTENCY_KEY)] : []),
      ...(route.async ? [components.add('parameters', 'Prefer', PREFER)] : []),
      ...(isChange(route) ? [components.add('parameters', 'If-Match', IF_MATCH)] : []),
      ...(route.method === 'GET' && !route.list ? [components.add('parameters', 'If-None-Match', IF_NONE_MATCH)] : []),
    ],
    ...(route.body && { requestBody: requestBody(annotate(jsonSchemaOf(route.body), inputFields), route.example) }),
    responses: {
      ...successResponses(route, operationId, jsonSchemaOf(answer, resolve), keyed, api, components),
      ...failureResponses(
        codesOf(route, api.errors, {
          needsScope: scopes.length > 0,
          takesKey: keyed,
          hasQuery: rows.fields.length > 0 || route.list !== undefined,
        }),
        api,
        components,
      ),
    },
  };
}

/**
 * Summary and description of an operation. By default they come from its GraphQL field: the first sentence is the summary. The error
 * codes at the end are left out, because `responses` lists those of the route, and so is its null, which is a 404 here.
 */
function textOf({ summary, notes }: Route, field: GraphQLField<unknown, unknown>): JsonSchema {
  const words = summary ?? field.description ?? '';
  const [first = '', ...rest] = words.replace(/\s*Errors: .*$/s, '').split(/(?<=\.) /);
  const sentence = first.replace(/; null if there is (none|no such \w+)(?=\.|$)/, '');
  const description = notes ?? rest.join(' ');
  return { summary: sentence.replace(/\.$/, ''), ...(description && { description }) };
}

/** @throws when a field that is to be left out does not exist */
function withOverrides(
  schema: JsonSchema,
  { without = [], with: others = {} }: SchemaOverrides,
  resolve: (part: Derived) => JsonSchema,
): JsonSchema {
  if (without.length === 0 && Object.keys(others).length === 0) return schema;
  const properties = { ...(schema['properties'] as Record<string, JsonSchema> | undefined) };
  for (const name of without) {
    if (!Object.hasOwn(properties, name)) throw new Error(`There is no field ${name}.`);
    delete properties[name];
  }
  const required = new Set((schema['required'] as readonly string[] | undefined) ?? []);
  for (const name of without) required.delete(name);
  for (const [name, field] of Object.entries(others)) {
    const isNew = !Object.hasOwn(properties, name);
    properties[name] = jsonSchemaOf(field, resolve);
    if (isOptional(field)) required.delete(name);
    else if (isNew) required.add(name);
  }
  return { ...schema, ...closedObject(properties, [...required]) };
}

const isOptional = (field: z.ZodType): boolean => field._zod.optin === 'optional';

const DELETED = named('Deleted', z.object({ id: rowId('Id of the deleted object.') }));

/** The part of the interface that a path belongs to. */
export const tagOf = (path: string): string => path.split('/')[1] ?? '';

/** Whether a root field takes an idempotency key, by itself or in its input. */
const takesKey = ({ args }: GraphQLField<unknown, unknown>): boolean =>
  args.some(({ name, type }) => {
    const input = getNamedType(type);
    return (
      name === 'idempotencyKey' || (isInputObjectType(input) && Object.hasOwn(input.getFields(), 'idempotencyKey'))
    );
  });

function pathParameters(route: Route, object: GraphQLOutputType): JsonSchema[] {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return names.map(name => {
    const own = route.params?.[name];
    const { description, ...schema } = own ? jsonSchemaOf(own) : idOf(object);
    return { name, in: 'path', required: true, ...(description !== undefined && { description }), schema };
  });
}

/** Ids are numbers, or UUIDs. */
function idOf(object: GraphQLOutputType): JsonSchema {
  const type = getNamedType(object);
  const id = isObjectType(type) ? type.getFields()['databaseId'] : undefined;
  return id && getNamedType(id.type).name === 'String' && id.extensions[IS_NUMERIC] !== true
    ? { type: 'string', format: 'uuid' }
    : { type: 'integer', format: 'int64', minimum: 0 };
}

/** A body with files is a form, or JSON without them. */
function requestBody(schema: JsonSchema, example: object | undefined): JsonSchema {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const plain = properties.filter(([, property]) => property['format'] !== 'binary');
  const hasFiles = plain.length < properties.length;
  const json = hasFiles ? { ...schema, properties: Object.fromEntries(plain) } : schema;
  const content = {
    'application/json': { schema: json, ...(example && { example }) },
    ...(hasFiles && { 'multipart/form-data': { schema } }),
  };
  return { required: true, content };
}

const header = (name: string, description: string, schema: JsonSchema): JsonSchema => ({
  name,
  in: 'header',
  description,
  schema,
});

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'Repeating the request with the same key within 24 hours returns the first response unchanged.',
  { type: 'string', maxLength: 255 },
);
const PREFER = header(
  'Prefer',
  '`respond-async`: respond with 202 as soon as the request is stored, without waiting for the network.',
  {
    type: 'string',
  },
);
const IF_MATCH = header(
  'If-Match',
  'The `ETag` of GET or of a change with the same `fields` and `include`, or `*`: an object that changed since is not changed, with 412.',
  { type: 'string' },
);
const IF_NONE_MATCH = header('If-None-Match', "Entity tags of the client's copies, or `*`.", { type: 'string' });

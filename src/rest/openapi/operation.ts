import { type GraphQLField, type GraphQLSchema, getNamedType, isInputObjectType, isObjectType } from 'graphql';
import { rowFields } from '../query.ts';
import type { Route } from '../route.ts';
import { operationOf } from '../sparse.ts';
import { successResponses } from './answers.ts';
import type { Components } from './components.ts';
import type { ApiDescription } from './document.ts';
import { codesOf, failureResponses } from './failures.ts';
import { listParameters, rowParameters } from './list-parameters.ts';
import { Selections } from './output.ts';
import { ShapeReader } from './resolve.ts';
import { given, type JsonSchema, type Shape, selected } from './shape.ts';

/** One route as an Operation Object. */
export function describeOperation(
  route: Route,
  schema: GraphQLSchema,
  api: ApiDescription,
  components: Components,
): JsonSchema {
  const whole = api.rows === 'whole' ? { always: route.always ?? [] } : undefined;
  const selections = new Selections(schema, route.document, api.wire, whole);
  const reader = new ShapeReader(schema, route.document, components, selections);
  const operation = operationOf(route.document);
  const { key, field } = selections.main;
  const takes = new Set(operation?.variableDefinitions?.map(({ variable }) => variable.name.value));
  const rows = whole ? { fields: [], includes: [] } : rowFields(route.document);
  const scope = scopeOf(field);
  const keyed = takesKey(field);
  const body = route.body ?? (takes.has('input') ? given('input') : undefined);
  const answer = route.answer ?? selected(route.list ? `${key}.nodes` : key);
  return {
    operationId: route.operationId ?? operation?.name?.value,
    ...(api.deprecated && { deprecated: true }),
    tags: [tagOf(route.path)],
    summary: (route.summary ?? field.description ?? '').replace(/\.$/, ''),
    ...(route.notes && { description: route.notes }),
    security: [{ bearer: scope === undefined ? [] : [scope] }],
    parameters: [
      ...pathParameters(route, field, reader),
      ...(route.list ? listParameters(route.list, schema, components) : []),
      ...rowParameters(rows),
      ...(keyed ? [components.add('parameters', 'Idempotency-Key', IDEMPOTENCY_KEY)] : []),
      ...(route.async ? [components.add('parameters', 'Prefer', PREFER)] : []),
      ...(route.method === 'GET' && !route.list ? [components.add('parameters', 'If-None-Match', IF_NONE_MATCH)] : []),
    ],
    ...(body && route.method !== 'GET' && { requestBody: requestBody(body, route.example, reader) }),
    responses: {
      ...successResponses(route, reader.read(answer, 'answer'), keyed, api, components),
      ...failureResponses(
        codesOf(route, api.errors, {
          scoped: scope !== undefined,
          keyed,
          chooses: rows.fields.length > 0 || route.list !== undefined,
        }),
        api,
        components,
      ),
    },
  };
}

/** The part of the interface that a path belongs to. */
export const tagOf = (path: string): string => path.split('/')[1] ?? '';

/** The scope that the schema demands for a root field. */
function scopeOf({ extensions }: GraphQLField<unknown, unknown>): string | undefined {
  const { authScopes } = (extensions['pothosOptions'] ?? {}) as { readonly authScopes?: { readonly scope?: string } };
  return authScopes?.scope;
}

/** Whether a root field takes an idempotency key, by itself or in its input. */
const takesKey = ({ args }: GraphQLField<unknown, unknown>): boolean =>
  args.some(({ name, type }) => {
    const input = getNamedType(type);
    return (
      name === 'idempotencyKey' || (isInputObjectType(input) && Object.hasOwn(input.getFields(), 'idempotencyKey'))
    );
  });

function pathParameters(route: Route, field: GraphQLField<unknown, unknown>, reader: ShapeReader): JsonSchema[] {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return names.map(name => {
    const said = route.params?.[name];
    const { description, ...schema } = said ? reader.read(said, 'body') : idOf(field);
    return { name, in: 'path', required: true, ...(description !== undefined && { description }), schema };
  });
}

/** Ids are numbers, but for those of what has a UUID. */
function idOf(field: GraphQLField<unknown, unknown>): JsonSchema {
  const type = getNamedType(field.type);
  const id = isObjectType(type) ? type.getFields()['databaseId'] : undefined;
  return id && getNamedType(id.type).name === 'String'
    ? { type: 'string', format: 'uuid' }
    : { type: 'integer', format: 'int64', minimum: 0 };
}

function requestBody(shape: Shape, example: object | undefined, reader: ShapeReader): JsonSchema {
  const schema = reader.read(shape, 'body');
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const plain = properties.filter(([, property]) => property['format'] !== 'binary');
  const isJson = { schema: { ...schema, properties: Object.fromEntries(plain) }, ...(example && { example }) };
  const content = {
    'application/json': plain.length === properties.length ? { schema, ...(example && { example }) } : isJson,
    ...(plain.length < properties.length && { 'multipart/form-data': { schema } }),
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
  'Makes a repeated request the same one for 24 hours: it gets the first answer, word for word.',
  { type: 'string', maxLength: 255 },
);
const PREFER = header(
  'Prefer',
  '`respond-async`: answer 202 as soon as it is stored, without waiting for the network.',
  {
    type: 'string',
  },
);
const IF_NONE_MATCH = header('If-None-Match', 'Entity tags of what the client has, or `*`.', { type: 'string' });

import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { describe, expect, test } from 'vitest';

/** The conventions of the schema, checked on what clients read: schema.graphql. */

const printed = buildSchema(readFileSync('schema.graphql', 'utf8'));

const types = Object.values(printed.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
type Composite = GraphQLObjectType | GraphQLInterfaceType;
const isComposite = (type: GraphQLNamedType): type is Composite => isObjectType(type) || isInterfaceType(type);
const composites = types.filter(isComposite);

type Field = GraphQLField<unknown, unknown>;
const fieldsOf = (type: Composite | undefined | null): Field[] => Object.values(type?.getFields() ?? {});
const places = (matches: (field: Field, type: Composite) => boolean): string[] =>
  composites.flatMap(type =>
    fieldsOf(type)
      .filter(field => matches(field, type))
      .map(({ name }) => `${type.name}.${name}`),
  );

const isNode = (type: Composite): boolean =>
  type.name === 'Node' || type.getInterfaces().some(({ name }) => name === 'Node');
const hasDirective = ({ astNode }: Field, name: string): boolean =>
  astNode?.directives?.some(directive => directive.name.value === name) ?? false;

const QUERIES = fieldsOf(printed.getQueryType());
const MUTATIONS = fieldsOf(printed.getMutationType());

describe('a root field', () => {
  test('is nullable, so that a refused one nulls only itself', () =>
    expect([...QUERIES, ...MUTATIONS].filter(({ type }) => isNonNullType(type)).map(({ name }) => name)).toEqual([]));

  /** A look-up is null for a missing object, also `previewCampaign(id:)`. */
  const isLookUp = ({ name, args }: Field): boolean =>
    name === 'node' || args.some(argument => argument.name === 'identifier') || args.map(a => a.name).join() === 'id';

  test('of a query carries @semanticNonNull unless it looks up one object', () =>
    expect(
      QUERIES.filter(field => hasDirective(field, 'semanticNonNull') === isLookUp(field)).map(({ name }) => name),
    ).toEqual([]));

  test('of a mutation carries @semanticNonNull', () =>
    expect(MUTATIONS.filter(field => !hasDirective(field, 'semanticNonNull')).map(({ name }) => name)).toEqual([]));

  test('of a mutation takes one input and returns a payload with userErrors', () =>
    expect(
      MUTATIONS.filter(({ args, type }) => {
        const payload = getNamedType(type);
        return (
          args.map(argument => argument.name).join() !== 'input' ||
          !('userErrors' in (payload as Composite).getFields())
        );
      }).map(({ name }) => name),
    ).toEqual([]));
});

describe('a field', () => {
  test('named id exists only on nodes', () =>
    expect(places(({ name }, type) => name === 'id' && !isNode(type))).toEqual([]));

  test('of an output type is never named at, since or until', () =>
    expect(places(({ name }) => ['at', 'since', 'until'].includes(name))).toEqual([]));

  test('named …At is a DateTime', () =>
    expect(places(({ name, type }) => /[a-z]At$/.test(name) && getNamedType(type).name !== 'DateTime')).toEqual([]));

  test('named databaseId is a String', () =>
    expect(places(({ name, type }) => name === 'databaseId' && String(type) !== 'String!')).toEqual([]));

  test('is JSON only for data of other systems, and for the bodies of webhooks', () => {
    const foreign = places(({ name, type }) => getNamedType(type).name === 'JSON' && name !== 'payload');
    expect(foreign.filter(place => !FOREIGN.includes(place))).toEqual([]);
    const bodies = composites.filter(type =>
      fieldsOf(type).some(({ name, type: of }) => name === 'payload' && getNamedType(of).name === 'JSON'),
    );
    const isEvent = (type: Composite): boolean =>
      type.name === 'Event' || type.getInterfaces().some(({ name }) => name === 'Event');
    expect(bodies.filter(type => !isEvent(type)).map(({ name }) => name)).toEqual(['IntegrationDelivery']);
    const inputs = types
      .filter(isInputObjectType)
      .flatMap(type =>
        Object.values(type.getFields()).map(field => [`${type.name}.${field.name}`, getNamedType(field.type).name]),
      );
    expect(inputs.filter(([, of]) => of === 'JSON').map(([place]) => place)).toEqual(
      expect.arrayContaining(['CreateTemplateInput.components']),
    );
    expect(
      inputs.filter(([place, of]) => of === 'JSON' && !/^\w+TemplateInput\.components$/.test(place ?? '')),
    ).toEqual([]);
  });

  /** What the network, and answers to forms, contain; and a filter as its client wrote it. */
  const FOREIGN = [
    'Bot.raw',
    'CampaignAudience.filter',
    'FlowReplyContent.answers',
    'Message.raw',
    'NetworkChange.raw',
    'SavedFilter.filter',
    'Template.raw',
  ];

  /** Root fields, and a list that is not known without prices. */
  const NULLABLE_LISTS = ['CampaignPreview.cost', 'Query.countries', 'Query.nodes'];

  test('that has its own statement or scope is nullable, so that its failure nulls only itself', () => {
    const isOwn = (field: Field): boolean =>
      hasDirective(field, 'requiresScopes') || getNamedType(field.type).name.endsWith('Connection');
    // A stream ends with its error, without partial data.
    const owned = places((field, type) => isOwn(field) && type.name !== 'Subscription');
    expect(owned).toEqual(expect.arrayContaining(['Campaign.recipients', 'Contact.messages', 'Query.contacts']));
    const nonNull = new Set(places(({ type }) => isNonNullType(type)));
    expect(owned.filter(place => nonNull.has(place))).toEqual([]);
  });

  test('that is a list has no null among its items, and is null only if it may be refused', () => {
    const listOf = ({ type }: Field) => {
      const list = getNullableType(type);
      return isListType(list) ? list : undefined;
    };
    // As Relay has it: an id of nothing has null in its place.
    expect(places(field => listOf(field) !== undefined && !isNonNullType(listOf(field)?.ofType))).toEqual([
      'Query.nodes',
    ]);
    const nullable = places(
      field => listOf(field) !== undefined && !isNonNullType(field.type) && !hasDirective(field, 'requiresScopes'),
    );
    expect(nullable.sort()).toEqual(NULLABLE_LISTS);
  });

  test('has one type across the members of a union or interface, so that selections never conflict', () => {
    // Node and Actor have members of all kinds: clients use aliases. No field returns a Payload.
    const returned = new Set(composites.flatMap(type => fieldsOf(type).map(field => getNamedType(field.type).name)));
    const abstract = types
      .filter(isAbstractType)
      .filter(({ name }) => returned.has(name) && !['Node', 'Actor'].includes(name));
    expect(abstract.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Event', 'MessageContent', 'Thread', 'UserError']),
    );
    const conflicts = abstract.flatMap(type => {
      const seen = new Map<string, string>();
      return printed.getPossibleTypes(type).flatMap(member =>
        fieldsOf(member).flatMap(field => {
          const first = seen.get(field.name) ?? String(field.type);
          seen.set(field.name, first);
          return first === String(field.type) ? [] : [`${type.name}: ${member.name}.${field.name}`];
        }),
      );
    });
    expect(conflicts).toEqual([]);
  });
});

test('every filter of a connection has the same grammar: and, or and not', () => {
  const connections = composites
    .flatMap(fieldsOf)
    .filter(({ type }) => getNamedType(type).name.endsWith('Connection'))
    .flatMap(({ args }) => args.filter(({ name }) => name === 'filter').map(({ type }) => getNamedType(type)));
  expect(connections.length).toBeGreaterThan(20);
  const others = connections.filter(
    filter => isInputObjectType(filter) && !['and', 'or', 'not'].every(name => name in filter.getFields()),
  );
  // A filter of events has lists in place of operators, as that of the subscription.
  expect([...new Set(others.map(({ name }) => name))]).toEqual(['EventFilter']);
});

test('every custom scalar has a specification', () =>
  expect(
    types
      .filter(type => type.astNode?.kind === 'ScalarTypeDefinition')
      .filter(type => !('specifiedByURL' in type && type.specifiedByURL))
      .map(({ name }) => name),
  ).toEqual([]));

test('the codes of user errors and of top-level errors are enums', () => {
  for (const name of ['ErrorCode', 'RequestErrorCode']) expect(isEnumType(printed.getType(name)), name).toBe(true);
});

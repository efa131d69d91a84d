import { buildSchema, isAbstractType, isScalarType, isSpecifiedScalarType } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const FILES = ['/schema.graphql', '/schema/scalars.json', '/schema/possible-types.json'];

test.each(FILES)('%s needs no token, is cached, compressed, and revalidated by its entity tag', async path => {
  const answer = await fetch(`${gateway.url}${path}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  const etag = answer.headers.get('etag') ?? '';
  const text = await answer.text();
  if (text.length > 1_024) expect(answer.headers.get('content-encoding')).toBe('gzip');
  const again = await fetch(`${gateway.url}${path}`, { headers: { 'if-none-match': etag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test('the files describe the schema: every custom scalar has a type, every interface and union its members', async () => {
  const [sdl, scalars, possible] = await Promise.all(
    FILES.map(path => fetch(`${gateway.url}${path}`).then(answer => answer.text())),
  );
  const schema = buildSchema(sdl ?? '');
  const types = Object.values(schema.getTypeMap());
  const names = types.filter(type => isScalarType(type) && !isSpecifiedScalarType(type)).map(({ name }) => name);
  expect(Object.keys(JSON.parse(scalars ?? ''))).toEqual(names.sort());
  expect(JSON.parse(scalars ?? '')).toMatchObject({ BigInt: 'number', JSON: 'unknown', DateTime: 'string' });
  const members = types.filter(isAbstractType).map(type => [
    type.name,
    schema
      .getPossibleTypes(type)
      .map(({ name }) => name)
      .sort(),
  ]);
  expect(JSON.parse(possible ?? '')).toEqual(Object.fromEntries(members));
});

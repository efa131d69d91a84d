import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/app/schema.ts';
import { SCOPES } from '../../src/core/scopes.ts';
import { openApiOf } from '../../src/rest/openapi/document.ts';
import { selectionOf } from '../../src/rest/openapi/schema.ts';
import { Call, type RestRequest } from '../../src/rest/runtime/call.ts';
import type { Route } from '../../src/rest/runtime/route.ts';
import { API_V1, ROUTES_V1 } from '../../src/rest/v1/api.ts';
import { API_V2, ROUTES_V2 } from '../../src/rest/v2/api.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { Contract, compiler, openApi, resolved } from './contract.ts';

const document = openApi();
const UUID = '01890000-0000-7000-8000-000000000000';

describe.each([
  ['v1', ROUTES_V1, API_V1, ['application/json']],
  ['v2', ROUTES_V2, API_V2, ['application/json', 'application/problem+json']],
] as const)('the OpenAPI document of %s', (version, routes, api, types) => {
  const document = openApi(version);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

  it('has every route of the table, and nothing else', () => {
    const wanted = routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(wanted.sort());
  });

  it('has a unique id, a summary, a known tag and a known scope for each operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of operations) {
      const { operationId, summary, tags, security } = operation as typeof operation & {
        summary: string;
        tags: string[];
        security: { bearer: string[] }[];
      };
      expect(operationId).toMatch(/^[A-Z]\w+$/);
      expect([operationId, summary.length > 5]).toEqual([operationId, true]);
      expect([operationId, summary]).toEqual([operationId, expect.not.stringMatching(/[.:] [A-Z`]/)]);
      // Of a route, not of the GraphQL field that its document selects: 404 takes the place of null, and a list is called one.
      expect([operationId, summary]).toEqual([operationId, expect.not.stringMatching(/\bnull if\b/)]);
      const isList = operationId.startsWith('List');
      expect([operationId, isList && /^(Returns|One)\b/.test(summary)]).toEqual([operationId, false]);
      expect([operationId, Object.hasOwn(api.tags, tags[0] ?? '')]).toEqual([operationId, true]);
      for (const scope of security[0]?.bearer ?? ['none']) expect(SCOPES).toContain(scope);
    }
  });

  it('has Idempotency-Key for exactly the operations whose mutation gets it', () => {
    const keyOf = (route: Route): boolean => {
      const id = route.idKind === 'uuid' || route.idKind === 'message' ? UUID : '1';
      const request = {
        headers: { 'idempotency-key': 'the-key' },
        query: {},
        params: { id, delivery: UUID },
        body: route.example,
      };
      const { variables } = route.plan(new Call(request as unknown as RestRequest), api.rows);
      return JSON.stringify(variables).includes('the-key');
    };
    for (const route of routes) {
      const path = route.path.replace(/:(\w+)/g, '{$1}');
      const parameters = document.paths[path]?.[route.method.toLowerCase()]?.parameters ?? [];
      const isDeclared = parameters.some(parameter => resolved(document, parameter)['name'] === 'Idempotency-Key');
      expect([route.method, path, isDeclared]).toEqual([route.method, path, keyOf(route)]);
    }
  });

  it('declares the parameters of each path, required, and no parameter twice', () => {
    for (const { path, operation } of operations) {
      const parameters = operation.parameters.map(parameter => resolved(document, parameter));
      const named = parameters.map(({ name, in: place }) => `${place} ${name}`);
      expect(new Set(named).size).toBe(named.length);
      const inPath = parameters.filter(parameter => parameter['in'] === 'path');
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }) => required === true)).toBe(true);
      for (const parameter of parameters)
        expect(parameter).toMatchObject({ name: expect.any(String), schema: expect.any(Object) });
    }
  });

  it('has no dangling reference and no unused component', () => {
    const text = JSON.stringify(document);
    const refs = new Set([...text.matchAll(/"\$ref":"(#[^"]+)"/g)].map(([, ref = '']) => ref));
    for (const $ref of refs) expect(() => resolved(document, { $ref })).not.toThrow();
    const { securitySchemes: _bearer, ...kinds } = document.components as Record<string, Record<string, unknown>>;
    const components = Object.entries(kinds).flatMap(([kind, named]) =>
      Object.keys(named).map(name => `#/components/${kind}/${name}`),
    );
    expect(components.filter(ref => !refs.has(ref))).toEqual([]);
  });

  it('has schemas that a strict validator compiles, and examples that fit them', () => {
    const compileAny = compiler(document);
    const compiled = new Map<string, ReturnType<typeof compileAny>>();
    const compile = (wanted: object) => {
      const text = JSON.stringify(wanted);
      const validate = compiled.get(text) ?? compileAny(wanted as never);
      compiled.set(text, validate);
      return validate;
    };
    for (const { operation } of operations) {
      const responses = Object.values(operation.responses).map(response => resolved(document, response));
      const bodies = [operation.requestBody, ...responses].flatMap(body => Object.values(body?.content ?? {}));
      for (const media of bodies) {
        const validate = compile(media.schema);
        if (media.example !== undefined)
          expect([operation.operationId, validate(media.example), validate.errors]).toEqual([
            operation.operationId,
            true,
            null,
          ]);
      }
      for (const parameter of operation.parameters) compile(resolved(document, parameter)['schema'] as object);
    }
  });

  it('has examples of values that fit their schemas', () => {
    const compile = compiler(document);
    const withExamples = new Map<string, { readonly examples: readonly unknown[] }>();
    JSON.stringify(document, (key, value) => {
      if (key !== 'example' && Array.isArray(value?.examples)) withExamples.set(JSON.stringify(value), value);
      return value;
    });
    expect(withExamples.size).toBeGreaterThan(20);
    for (const wanted of withExamples.values()) {
      const validate = compile(wanted as never);
      for (const example of wanted.examples)
        expect([wanted, example, validate(example)]).toEqual([wanted, example, true]);
    }
  });

  it('names the body of each success, and gives operations with equal bodies the same name', () => {
    for (const { operation } of operations)
      for (const [status, response] of Object.entries(operation.responses)) {
        const { content } = resolved(document, response);
        if (!status.startsWith('2')) continue;
        expect([operation.operationId, content?.['application/json']?.schema]).toEqual([
          operation.operationId,
          { $ref: expect.stringMatching(/^#\/components\/schemas\/[A-Z]\w+(Response|List)$/) },
        ]);
      }
    const bodies = Object.entries(document.components.schemas).filter(([name]) => /(Response|List)$/.test(name));
    expect(new Set(bodies.map(([, body]) => JSON.stringify(body))).size).toBe(bodies.length);
  });

  it('has an example for each body', () => {
    const without = operations.filter(({ operation }) => {
      const media = operation.requestBody?.content['application/json'];
      return media && media.example === undefined;
    });
    expect(without.map(({ operation }) => operation.operationId)).toEqual([]);
  });

  it('has headers for each answer, both forms of each error, and a success for each operation', () => {
    for (const { operation } of operations) {
      const statuses = Object.keys(operation.responses);
      expect(statuses).toEqual(expect.arrayContaining(['401', '429', '500', '503']));
      expect(statuses.some(status => status.startsWith('2'))).toBe(true);
      for (const [status, response] of Object.entries(operation.responses)) {
        const { description, headers, content } = resolved(document, response) as Record<string, object>;
        expect(description).toBeTruthy();
        expect(headers).toHaveProperty('X-Request-Id');
        if (Number(status) >= 400) expect(Object.keys(content ?? {})).toEqual(types);
      }
    }
  });

  it('marks operations and answers of a deprecated version', () => {
    for (const { operation } of operations) {
      expect((operation as { deprecated?: boolean }).deprecated).toBe(version === 'v1' ? true : undefined);
      for (const response of Object.values(operation.responses)) {
        const { headers = {} } = resolved(document, response) as { headers?: object };
        expect(['Deprecation', 'Link', 'Sunset'].map(name => Object.hasOwn(headers, name))).toEqual(
          Array.from({ length: 3 }, () => version === 'v1'),
        );
      }
    }
  });
});

describe('the OpenAPI document', () => {
  it('contains limits, enum words in lower case, and nullable types', () => {
    const create = document.paths['/contacts']?.['post']?.requestBody?.content['application/json']?.schema;
    expect(create).toMatchObject({
      required: ['phone'],
      properties: {
        firstname: { type: ['string', 'null'], maxLength: 255 },
        type: { enum: ['lead', 'customer', 'guest', null] },
        groups: { items: { type: 'integer' } },
      },
    });
    expect(create).not.toHaveProperty('properties.idempotency_key');
    expect(document.components.schemas['Contact']).toMatchObject({
      additionalProperties: false,
      properties: {
        id: { type: 'integer' },
        firstname: { type: ['string', 'null'] },
        phone: { type: ['string', 'null'] },
      },
    });
  });

  it('fails with the route’s name if a row describes a field that its document lacks', () => {
    const [first] = ROUTES_V2;
    const wrong = { ...first, answer: selectionOf('nowhere') } as Route;
    expect(() => openApiOf([wrong], schema, API_V2)).toThrow(`${first?.method} ${first?.path}`);
  });
});

describe('the check of answers against the document', () => {
  const contract = new Contract('v2');
  const meta = { request_id: crypto.randomUUID(), timestamp: '2026-01-01T07:58:39+00:00' };
  const documented = { method: 'GET', path: '/sources/1?x=1', status: 200, type: 'application/json; charset=utf-8' };
  const source = { id: 1, name: 'x', created_at: '2026-01-01T07:58:39+00:00', updated_at: '2026-01-01T07:58:39+00:00' };
  const text = (data: object, more: object = {}) =>
    JSON.stringify({ success: true, data, message: 'Source', meta, ...more });

  it('accepts a documented answer', () => {
    expect(contract.faultOf({ ...documented, text: text(source) })).toBeUndefined();
    expect(contract.faultOf({ ...documented, status: 304, type: null, text: '' })).toBeUndefined();
  });

  it.each([
    ['another status', { status: 206 }],
    ['another type', { type: 'text/html' }],
    ['an unknown property', { text: text({ ...source, secret: 1 }) }],
    ['an unknown property of the envelope', { text: text(source, { debug: 1 }) }],
    ['another type of a value', { text: text({ ...source, id: '1' }) }],
    ['a timestamp of another form', { text: text({ ...source, created_at: '2026-01-01T07:58:39.000Z' }) }],
    [
      'an unknown code',
      { status: 404, text: JSON.stringify({ success: false, error: { code: 'GONE', message: '' }, meta }) },
    ],
    ['a body where none is', { status: 304 }],
    ['an unknown path', { path: '/nothing' }],
  ])('fails for %s', (_name, difference) => {
    expect(contract.faultOf({ ...documented, text: text(source), ...difference })).toEqual(expect.any(String));
  });
});

describe('the check of answers of version 1', () => {
  const contract = new Contract('v1');
  const documented = { method: 'GET', path: '/sources/1', status: 200, type: 'application/json; charset=utf-8' };
  const time = '2026-04-08T14:30:25.000000Z';
  const source = { id: 1, name: 'x', created_at: time, updated_at: time };
  const text = (data: object, more: object = {}) =>
    JSON.stringify({ status: 'success', message: 'Source', data, ...more });
  const error = (message: string, errors: unknown = 'Why.', more: object = {}) =>
    JSON.stringify({ status: 'error', message, errors, ...more });

  it('accepts a documented answer', () => {
    expect(contract.faultOf({ ...documented, text: text(source) })).toBeUndefined();
    expect(contract.faultOf({ ...documented, status: 404, text: error('Not found') })).toBeUndefined();
    expect(
      contract.faultOf({ ...documented, path: '/nothing', status: 404, text: error('Not found') }),
    ).toBeUndefined();
    const limited = JSON.stringify({ message: 'Too many calls.', retry_after: 7 });
    expect(contract.faultOf({ ...documented, status: 429, text: limited })).toBeUndefined();
  });

  it.each([
    ['another status', { status: 206 }],
    ['a timestamp of version 2', { text: text({ ...source, created_at: '2026-01-01T07:58:39+00:00' }) }],
    ['a field that is missing', { text: text({ id: 1 }) }],
    ['the envelope of version 2', { text: JSON.stringify({ success: true, data: source, message: 'Source' }) }],
    ['an unknown kind of refusal', { status: 404, text: error('Gone') }],
    ['errors that are neither', { status: 404, text: error('Not found', ['x']) }],
    [
      'a status beside a rate',
      { status: 429, text: JSON.stringify({ status: 'error', message: 'x', retry_after: 7 }) },
    ],
    ['another address that is not there', { path: '/nothing', status: 404, text: error('Gone') }],
  ])('fails for %s', (_name, difference) => {
    expect(contract.faultOf({ ...documented, text: text(source), ...difference })).toEqual(expect.any(String));
  });
});

describe('openapi.json and its page', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET', version = 'v2') =>
    fetch(`${gateway.url}/api/${version}${path}`, { method, headers });

  it('are served without a token, and the document is that of the table', async () => {
    const response = await get('/openapi.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(await response.json()).toEqual(document);
    expect(await (await get('/openapi.json', {}, 'GET', 'v1')).json()).toEqual(openApi('v1'));
    expect((await get('/docs', {}, 'GET', 'v1')).status).toBe(200);
  });

  it('have an entity tag, and support GET, HEAD and OPTIONS only', async () => {
    for (const path of ['/openapi.json', '/docs', '/docs/swagger-ui-bundle.js']) {
      const etag = (await get(path)).headers.get('etag') ?? '';
      const again = await get(path, { 'if-none-match': etag });
      expect([path, again.status, await again.text()]).toEqual([path, 304, '']);
      expect((await get(path, {}, 'HEAD')).status).toBe(200);
      expect((await get(path, {}, 'OPTIONS')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      expect((await get(path, {}, 'POST')).status).toBe(405);
    }
    expect((await get('/docs/nothing.js')).status).toBe(404);
  });

  it('load nothing from other hosts', async () => {
    const page = await get('/docs');
    const html = await page.text();
    const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
    expect(addresses.length).toBeGreaterThanOrEqual(4);
    for (const address of addresses) {
      expect(address).not.toMatch(/^(\w+:|\/\/)/);
      expect([address, (await fetch(new URL(address, page.url))).status]).toEqual([address, 200]);
    }
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe/);
    expect(html).not.toMatch(/<script>(?!<)/);
  });
});

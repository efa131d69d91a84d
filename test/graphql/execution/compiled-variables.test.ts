import { getOperationAST, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../../src/app/schema.ts';
import { compile } from '../../../src/graphql/execution/documents.ts';

/** Variables of compiled documents are coerced by graphql-js. */
const compiledOf = (text: string) => {
  const document = parse(text);
  const node = getOperationAST(document);
  const compiled = node && compile(schema, { document, name: undefined, node });
  if (!compiled) throw new Error('not compiled');
  return compiled;
};

const WEBHOOKS = `query ($filter: WebhookEndpointFilter, $orderBy: [WebhookEndpointOrder!] = [{ field: ID }], $first: Int = 5, $more: Boolean = false) {
  webhookEndpoints(filter: $filter, orderBy: $orderBy, first: $first) { nodes { url ... @include(if: $more) { isEnabled } } } }`;

describe('a document whose input type contains itself', () => {
  // graphql-jit wrote the type out at every level until the stack was full.
  test('is compiled', () => {
    expect(compiledOf(WEBHOOKS)).toBeDefined();
  });

  test.each([
    [{ filter: { nonsense: 1 } }, /Field "nonsense" is not defined/],
    [{ filter: { format: { eq: 'XML' } } }, /Value "XML" does not exist in "WebhookFormat" enum/],
    [{ filter: { and: [{ createdAt: { gte: 'yesterday' } }] } }, /DateTime must be/],
    [{ orderBy: [{ direction: 'ASC' }] }, /Field "field" of required type/],
    [{ first: 'five' }, /Int cannot represent/],
  ])('refuses variables that do not fit it (%#), as graphql-js does', async (variables, message) => {
    const result = await compiledOf(WEBHOOKS).query(undefined, {}, variables);
    expect(result).toEqual({ errors: [expect.objectContaining({ message: expect.stringMatching(message) })] });
  });
});

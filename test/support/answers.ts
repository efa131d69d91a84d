import { expect } from 'vitest';
import type { GraphQLAnswer } from './gateway.ts';

/**
 * An answer without what it cost: that is different in every answer, and is the matter of test/graphql/execution/cost.test.ts, where
 * answers are read as they are.
 */
export function withoutCost<T>(answer: T): T {
  const { extensions, ...rest } = answer as { extensions?: Record<string, unknown> };
  if (extensions === undefined) return answer;
  const { cost: _cost, ...others } = extensions;
  return (Object.keys(others).length > 0 ? { ...rest, extensions: others } : rest) as T;
}

/** The field errors of an answer that was refused as a whole. */
export function faultsOf(answer: GraphQLAnswer): Record<string, string[]> {
  expect(answer.errors, 'a refusal').toHaveLength(1);
  expect(answer.errors?.[0]?.extensions.code).toBe('VALIDATION_ERROR');
  return answer.errors?.[0]?.extensions.details as Record<string, string[]>;
}

/** The code of an answer's only error; undefined when there is none. */
export function codeOf(answer: GraphQLAnswer): string | undefined {
  expect(answer.errors?.length ?? 0, JSON.stringify(answer.errors)).toBeLessThanOrEqual(1);
  return answer.errors?.[0]?.extensions.code;
}

/** The data of an answer without any error. */
export function dataOf(answer: GraphQLAnswer): NonNullable<GraphQLAnswer['data']> {
  expect(answer.errors).toBeUndefined();
  return answer.data;
}

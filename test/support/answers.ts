import { expect } from 'vitest';
import { isFieldCode } from '../../src/core/errors.ts';
import type { GraphQLAnswer } from './gateway.ts';

/**
 * An answer without its cost, which differs in every answer. test/graphql/execution/cost.test.ts tests it on complete answers.
 */
export function withoutCost<T>(answer: T): T {
  const { extensions, ...rest } = answer as { extensions?: Record<string, unknown> };
  if (extensions === undefined) return answer;
  const { cost: _cost, ...others } = extensions;
  return (Object.keys(others).length > 0 ? { ...rest, extensions: others } : rest) as T;
}

/** A user error, as `mutate` selects it. */
interface UserError {
  readonly code: string;
  readonly message: string;
  readonly path: readonly string[];
}

/** The user errors of all mutations of an answer. */
export function userErrorsOf({ data }: GraphQLAnswer): readonly UserError[] {
  return Object.values((data ?? {}) as Record<string, { userErrors?: UserError[] } | null>).flatMap(
    payload => payload?.userErrors ?? [],
  );
}

/** The field errors of an answer that was refused as a whole, by their paths: of a query, or of a mutation below its input. */
export function faultsOf(answer: GraphQLAnswer): Record<string, string[]> {
  const userErrors = userErrorsOf(answer);
  if (userErrors.length > 0) {
    expect(userErrors.filter(({ code }) => !isFieldCode(code))).toEqual([]);
    const faults: Record<string, string[]> = {};
    for (const { path, message } of userErrors) faults[path.join('.')] = [...(faults[path.join('.')] ?? []), message];
    return faults;
  }
  expect(answer.errors, 'a refusal').toHaveLength(1);
  expect(answer.errors?.[0]?.extensions.code).toBe('VALIDATION_ERROR');
  return answer.errors?.[0]?.extensions.details as Record<string, string[]>;
}

/** The code of an answer's only error, undefined when there is none. The faults of fields are one VALIDATION_ERROR, as in REST. */
export function codeOf(answer: GraphQLAnswer): string | undefined {
  const [first] = userErrorsOf(answer);
  if (first) return isFieldCode(first.code) ? 'VALIDATION_ERROR' : first.code;
  expect(answer.errors?.length ?? 0, JSON.stringify(answer.errors)).toBeLessThanOrEqual(1);
  return answer.errors?.[0]?.extensions.code;
}

/** The data of an answer without any error, of users or of the request. */
export function dataOf(answer: GraphQLAnswer): NonNullable<GraphQLAnswer['data']> {
  expect(answer.errors).toBeUndefined();
  expect(userErrorsOf(answer)).toEqual([]);
  return answer.data;
}

/** The payload of an answer's only mutation, which succeeded. */
// biome-ignore lint/suspicious/noExplicitAny: tests check the payload by assertions
export function payloadOf(answer: GraphQLAnswer): any {
  const [payload] = Object.values(dataOf(answer));
  return payload;
}

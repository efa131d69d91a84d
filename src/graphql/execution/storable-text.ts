import { type DocumentNode, Kind, visit } from 'graphql';
import { CodedError, invalid } from '../../core/errors.ts';
import { isStorable, UNSTORABLE } from '../../platform/text.ts';

/** More than twice the depth of any input of the schema; bounds the recursion below. */
const MAX_DEPTH = 30;

/**
 * Checked here, because the database would reject the statement and the client would receive INTERNAL_ERROR.
 * @throws VALIDATION_ERROR naming the field; QUERY_TOO_COMPLEX for variables nested too deeply
 */
export function checkVariables(variables: Readonly<Record<string, unknown>>): void {
  const fault = findFault(variables, '', 0);
  // As in other validation errors, fields of `$input` are named without the variable.
  if (fault !== undefined) throw invalid({ [fault.replace(/^input\./, '')]: [UNSTORABLE] });
}

function findFault(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : path;
  if (value === null || typeof value !== 'object') return undefined;
  if (depth > MAX_DEPTH)
    throw new CodedError(
      'QUERY_TOO_COMPLEX',
      `The variables are nested too deeply; the limit is ${MAX_DEPTH} levels.`,
      { details: { limit: 'variables', maximum: MAX_DEPTH } },
    );
  for (const [name, item] of Object.entries(value)) {
    const fault = findFault(item, path === '' ? name : `${path}.${name}`, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Returns the argument or input field with a string literal that cannot be stored, if any. */
export function findUnstorableLiteral(document: DocumentNode): string | undefined {
  let name = 'query';
  let fault: string | undefined;
  visit(document, {
    Argument(node) {
      name = node.name.value;
    },
    ObjectField(node) {
      name = node.name.value;
    },
    [Kind.STRING]: node => {
      if (!isStorable(node.value)) fault ??= name;
    },
  });
  return fault;
}

export const unstorable = (field: string): Error => invalid({ [field]: [UNSTORABLE] });

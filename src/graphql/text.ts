import { type DocumentNode, Kind, visit } from 'graphql';
import { CodedError, invalid } from '../errors.ts';
import { isStorable } from '../platform/text.ts';

// What cannot be stored is refused here: the database would refuse the statement, and the caller would read INTERNAL_ERROR.
const FAULT = 'May hold neither the character U+0000 nor half a surrogate pair.';

/** No input of ours is half as deep. What is deeper would only exhaust the stack of whoever walks it. */
const MAX_DEPTH = 30;

/** @throws VALIDATION_ERROR naming the field; QUERY_TOO_COMPLEX for one that is nested too deeply */
export function checkVariables(variables: Readonly<Record<string, unknown>>): void {
  const fault = findFault(variables, '', 0);
  // Fields of an input are named as every other fault names them: without the variable that they came in.
  if (fault !== undefined) throw invalid({ [fault.replace(/^input\./, '')]: [FAULT] });
}

function findFault(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : path;
  if (value === null || typeof value !== 'object') return undefined;
  if (depth > MAX_DEPTH)
    throw new CodedError(
      'QUERY_TOO_COMPLEX',
      `The variables are nested too deeply: at most ${MAX_DEPTH} levels are allowed.`,
      { limit: 'variables', maximum: MAX_DEPTH },
    );
  for (const [name, item] of Object.entries(value)) {
    const fault = findFault(item, path === '' ? name : `${path}.${name}`, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The argument or field whose literal in a document is no text; undefined when all are. */
export function faultyLiteral(document: DocumentNode): string | undefined {
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

export const textFault = (field: string): Error => invalid({ [field]: [FAULT] });

import { type DocumentNode, Kind, visit } from 'graphql';
import { invalid } from '../errors.ts';

/** U+0000 and halves of surrogate pairs are no text to PostgreSQL: it would refuse the statement, and the caller would read INTERNAL_ERROR. */
const isText = (value: string): boolean => !value.includes('\0') && value.isWellFormed();

const FAULT = 'May hold neither the character U+0000 nor half a surrogate pair.';

/** @throws VALIDATION_ERROR naming the variable, by its path */
export function checkText(variables: Readonly<Record<string, unknown>>): void {
  const fault = findFault(variables, '');
  if (fault !== undefined) throw invalid({ [fault]: [FAULT] });
}

function findFault(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return isText(value) ? undefined : path;
  if (value === null || typeof value !== 'object') return undefined;
  for (const [name, item] of Object.entries(value)) {
    const fault = findFault(item, path === '' ? name : `${path}.${name}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The argument or field whose literal in a document is no text; undefined when all are. */
export function faultyLiteral(document: DocumentNode): string | undefined {
  let name = 'query';
  let fault: string | undefined;
  visit(document, {
    Argument: node => void (name = node.name.value),
    ObjectField: node => void (name = node.name.value),
    [Kind.STRING]: node => {
      if (!isText(node.value)) fault ??= name;
    },
  });
  return fault;
}

export const textFault = (field: string): Error => invalid({ [field]: [FAULT] });

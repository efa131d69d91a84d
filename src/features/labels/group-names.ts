import type { FieldErrorList } from '../../errors.ts';
import { labelNameFault } from './label.ts';

/** As many groups as one request may name. */
export const MAX_NAMES = 100;

/**
 * Names of groups as a caller writes them: trimmed. Those that differ by case alone are one group, which the database says.
 * Faults go to `errors`, under the place of each name.
 */
export function parseGroupNames(names: readonly string[], errors: FieldErrorList, field: string): string[] {
  if (names.length > MAX_NAMES) errors.add(field, `May have at most ${MAX_NAMES}, and has ${names.length}.`);
  const parsed = names.map(name => name.trim());
  for (const [index, name] of parsed.entries()) {
    const fault = labelNameFault(name);
    if (fault !== undefined) errors.add(`${field}.${index}`, fault);
  }
  return [...new Set(parsed)];
}

/** A place in a template that a send fills: `{{1}}` or `{{first_name}}`. */
const VARIABLE = /\{\{\s*(\w+)\s*\}\}/g;

/**
 * The variables of a text, each once: numbered ones by their number, which is the order in which the network takes their
 * values, named ones in the order in which they stand.
 */
export function variablesOf(text: string): string[] {
  const names = [...new Set([...text.matchAll(VARIABLE)].map(match => match[1] ?? ''))];
  return names.every(name => /^\d+$/.test(name)) ? names.sort((a, b) => Number(a) - Number(b)) : names;
}

/** The text with its variables filled. What a value holds is not looked into again; a variable without one stays as it is. */
export const fill = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replace(VARIABLE, (whole, name: string) => values.get(name) ?? whole);

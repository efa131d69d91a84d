import { invalid } from '../core/errors.ts';

/** The one field of an input that is given, with its value. */
export type Given<Input extends object> = {
  [Name in keyof Input & string]-?: { readonly field: Name; readonly value: NonNullable<Input[Name]> };
}[keyof Input & string];

/**
 * Returns the field of a `@oneOf` input that is given. graphql-jit 0.8.9 passes variables with several, no or null fields, which
 * graphql-js rejects, so every such input is read through this function.
 * @param path of the input, for the error
 * @throws VALIDATION_ERROR
 */
export function oneOf<Input extends object>(input: Input, path: string): Given<Input> {
  const [first, ...others] = Object.entries(input).filter(([, value]) => value !== undefined);
  if (!first || others.length > 0 || first[1] === null)
    throw invalid({ [path]: ['Exactly one of its fields must be given, and not be null.'] });
  return { field: first[0], value: first[1] } as Given<Input>;
}

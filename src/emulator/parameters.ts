import { asText } from '../platform/json.ts';
import { badParameter } from './graph-error.ts';

/** Requires a string of 1 to `max` characters. @throws GraphError that names the parameter */
export function requiredText(value: unknown, parameter: string, max: number): string {
  const text = asText(value);
  if (text === undefined) throw badParameter(`The parameter ${parameter} is required.`);
  return withinLength(text, parameter, max);
}

export function optionalText(value: unknown, parameter: string, max: number): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw badParameter(`Param ${parameter} must be a string.`);
  return withinLength(value, parameter, max);
}

function withinLength(text: string, parameter: string, max: number): string {
  // In code points: an emoji outside the BMP counts as one.
  if (text.length > max && [...text].length > max)
    throw badParameter(`Param ${parameter} must be at most ${max} characters long.`);
  return text;
}

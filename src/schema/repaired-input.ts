import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isNonNullType,
} from 'graphql';
import { STAND_IN } from '../core/errors.ts';

/** The result of a repair: another value, none, or that the rest cannot be checked without the value. */
type Repair = { readonly value: unknown } | 'removed' | 'impossible';

type InputObject = Readonly<Record<string, unknown>>;

/**
 * Returns an input without the fields that are faulty, so that the others can be checked: an optional field is removed, one with a
 * default gets it, a required text becomes a stand-in.
 * @param paths of the faulty fields, separated by dots
 * @returns undefined if a faulty field is needed to check the others: a required id or list, the only field of a `@oneOf`
 */
export function repairedInput(
  type: GraphQLInputObjectType,
  input: object,
  paths: readonly string[],
): object | undefined {
  let current: object = input;
  for (const path of paths) {
    const repair = repairObject(type, current as InputObject, path.split('.'));
    if (repair === 'removed' || repair === 'impossible') return undefined;
    current = repair.value as object;
  }
  return current;
}

function repairValue(type: GraphQLInputType, value: unknown, path: readonly string[]): Repair {
  const inner = getNullableType(type);
  const isBelow = path.length > 0 && isInputObjectType(inner) && typeof value === 'object' && value !== null;
  const below = isBelow ? repairObject(inner, value as InputObject, path) : 'removed';
  if (below !== 'removed') return below;
  if (!isNonNullType(type)) return 'removed';
  // An item of a list is not removed: the paths of the others have its position.
  return path.length === 0 && getNamedType(inner).name === 'String' && inner === getNamedType(inner)
    ? { value: STAND_IN }
    : 'impossible';
}

function repairObject(
  type: GraphQLInputObjectType,
  object: InputObject,
  [name = '', ...path]: readonly string[],
): Repair {
  const field = type.getFields()[name];
  if (!field) return 'impossible';
  // Removed by an earlier fault of the same field.
  if (object[name] === undefined && path.length === 0) return { value: object };
  const repaired = repairValue(field.type, object[name], path);
  if (repaired !== 'removed')
    return repaired === 'impossible' ? repaired : { value: { ...object, [name]: repaired.value } };
  if (type.isOneOf) return 'removed';
  const { [name]: _removed, ...others } = object;
  return { value: field.defaultValue === undefined ? others : { ...others, [name]: field.defaultValue } };
}

import { astFromValue, type GraphQLSchema, isInputType, valueFromASTUntyped } from 'graphql';

/**
 * Converts a stored input back to the JSON that its caller sent: enums are stored by their internal values (`lead` for `LEAD`).
 * @param typeName name of the input type
 */
export function inputJson(schema: GraphQLSchema, typeName: string, value: unknown): unknown {
  const type = schema.getType(typeName);
  if (!isInputType(type)) throw new Error(`${typeName} is not an input type.`);
  const literal = astFromValue(value, type);
  return literal ? valueFromASTUntyped(literal) : null;
}

import { astFromValue, type GraphQLSchema, isInputType, valueFromASTUntyped } from 'graphql';

/**
 * A stored input as its caller wrote it: values of enums are stored as the code names them (`lead`), and written `LEAD`.
 * @param typeName name of the input type
 */
export function inputJson(schema: GraphQLSchema, typeName: string, value: unknown): unknown {
  const type = schema.getType(typeName);
  if (!isInputType(type)) throw new Error(`${typeName} is no input type.`);
  const literal = astFromValue(value, type);
  return literal ? valueFromASTUntyped(literal) : null;
}

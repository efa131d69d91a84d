import { type GraphQLType, getNamedType, isEnumType } from 'graphql';

/** A description of the GraphQL schema in REST's words: what is a `databaseId` there is the id here, and enum values are in lower case. */
export function inWords(description: string, type: GraphQLType): string {
  const named = getNamedType(type);
  const words = description.replaceAll('databaseId', 'id');
  if (!isEnumType(named)) return words;
  const values = new Set(named.getValues().map(value => value.name));
  return words.replace(/\b[A-Z][A-Z_]+\b/g, word => (values.has(word) ? `\`${word.toLowerCase()}\`` : word));
}

/** An optional value of a GraphQL input: clients leave it out or send null. */
export type Maybe<T> = T | null | undefined;

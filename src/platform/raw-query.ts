import { CompiledQuery } from 'kysely';

/** A statement whose text is ours and whose values are `$n`. */
export const raw = <Row>(text: string, values: readonly unknown[]): CompiledQuery<Row> =>
  CompiledQuery.raw(text, [...values]) as CompiledQuery<Row>;

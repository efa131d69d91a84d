import type { FieldRef } from '@pothos/core';
import { IS_NUMERIC } from '../core/global-ids.ts';
import type { builder } from './builder.ts';

type Types = typeof builder.$inferSchemaTypes;

/** The `databaseId` of a type whose rows have numeric ids. */
export const databaseId = <Row extends { readonly id: number }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, Row>,
): FieldRef<Types, string> =>
  t.string({
    description: 'Its key in REST and webhooks, in digits.',
    extensions: { [IS_NUMERIC]: true },
    resolve: row => String((row as { readonly id: number }).id),
  }) as never;

/** The `databaseId` of a type whose rows have UUIDs. */
export const databaseUuid = <Row extends { readonly id: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, Row>,
): FieldRef<Types, string> =>
  t.string({
    description: 'Its key in REST and webhooks, a UUID.',
    resolve: row => (row as { readonly id: string }).id,
  }) as never;

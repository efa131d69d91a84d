import { sql } from 'kysely';
import type { Feature } from '../../../core/plan-features.ts';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { anyOf, crossTenant, transactionTime } from '../../../database/expressions.ts';
import { TENANT_COLUMNS, type TenantColumns } from '../tenants/tenant.ts';

export interface AccessTokenRow {
  readonly id: number;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly string[];
  readonly calls_per_minute: number;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  /** Executes trusted documents only. */
  readonly documents_only: boolean;
}

export interface BearerRow extends TenantColumns {
  readonly documents_only: boolean;
  readonly hash: Buffer;
  readonly token_id: number;
  readonly token_name: string;
  readonly scopes: readonly string[];
  readonly calls_per_minute: number;
  readonly expires_at: string | null;
  /** By the database's clock; null: it does not expire. */
  readonly expires_in_ms: number | null;
}

export const TOKEN_COLUMNS = [
  'id',
  'name',
  'hint',
  'scopes',
  'calls_per_minute',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'documents_only',
  'created_at',
] as const satisfies readonly (keyof AccessTokenRow)[];

const expiresInMs = sql<number | null>`extract(epoch from t.expires_at - clock_timestamp())::float8 * 1000`;

/** Finds the valid tokens with these hashes, with tenant and plan. */
export const findBearers: (db: Db, hashes: readonly Buffer[]) => Promise<BearerRow[]> = compileOnce(
  (db, hashes: readonly Buffer[]) =>
    db
      .selectFrom('tenants as n')
      .innerJoin('plans as p', 'p.id', 'n.plan_id')
      .innerJoin('access_tokens as t', 't.tenant_id', 'n.tenant_id')
      .select(['t.hash', 't.id as token_id', 't.name as token_name', 't.scopes', 't.calls_per_minute', 't.expires_at'])
      .select('t.documents_only')
      .select(expiresInMs.as('expires_in_ms'))
      .select(TENANT_COLUMNS)
      .$narrowType<{ features: Feature[]; window_policy: TenantColumns['window_policy'] }>()
      .where('n.status', '=', 'active')
      .where('t.hash', '=', anyOf(hashes))
      .where('t.revoked_at', 'is', null)
      .where(eb => eb.or([eb('t.expires_at', 'is', null), eb('t.expires_at', '>', transactionTime)]))
      .modifyEnd(crossTenant('the token determines the tenant')),
);

export const listTokens = (db: Db, tenantId: number): Promise<AccessTokenRow[]> =>
  db
    .selectFrom('access_tokens')
    .select(TOKEN_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .orderBy('id', 'desc')
    .execute();

export const getTokens = compileOnce((db, tenantId: number, ids: readonly number[]) =>
  db.selectFrom('access_tokens').select(TOKEN_COLUMNS).where('tenant_id', '=', tenantId).where('id', '=', anyOf(ids)),
);

export interface NewToken {
  readonly name: string;
  readonly hash: Buffer;
  readonly hint: string;
  readonly scopes: readonly string[];
  readonly callsPerMinute: number;
  readonly documentsOnly: boolean;
  readonly expiresAt: string | null;
}

export const insertToken = (db: Db, tenantId: number, token: NewToken): Promise<AccessTokenRow> =>
  db
    .insertInto('access_tokens')
    .values({
      tenant_id: tenantId,
      name: token.name,
      hash: token.hash,
      hint: token.hint,
      scopes: [...token.scopes],
      calls_per_minute: token.callsPerMinute,
      documents_only: token.documentsOnly,
      expires_at: token.expiresAt,
    })
    .returning(TOKEN_COLUMNS)
    .executeTakeFirstOrThrow();

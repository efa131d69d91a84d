import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { TENANT_COLUMNS, TENANT_TABLES, type TenantColumns } from '../tenants/columns.ts';

export interface AccessTokenRow {
  readonly id: number;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly string[];
  readonly calls_per_minute: number;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly created_at: string;
}

export interface BearerRow extends TenantColumns {
  readonly hash: Buffer;
  readonly token_id: number;
  readonly token_name: string;
  readonly scopes: readonly string[];
  readonly calls_per_minute: number;
  readonly expires_at: string | null;
}

const COLUMNS = sql.raw('id, name, hint, scopes, calls_per_minute, expires_at, revoked_at, created_at');

/** Who tokens are: the one statement of a call that cannot name its tenant yet. */
export async function findBearers(db: Db, hashes: readonly Uint8Array[]): Promise<BearerRow[]> {
  const { rows } = await sql<BearerRow>`
    /* cross-tenant: the tenant is what the token says */
    select t.hash, t.id as token_id, t.name as token_name, t.scopes, t.calls_per_minute, t.expires_at, ${TENANT_COLUMNS}
    from ${TENANT_TABLES} join access_tokens t on t.tenant_id = n.tenant_id
    where n.status = 'active' and t.hash = any(${hashes}::bytea[]) and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`.execute(
    db,
  );
  return rows;
}

export const findBearer = async (db: Db, hash: Uint8Array): Promise<BearerRow | undefined> =>
  (await findBearers(db, [hash]))[0];

export async function listTokens(db: Db, tenantId: number): Promise<AccessTokenRow[]> {
  const { rows } = await sql<AccessTokenRow>`
    select ${COLUMNS} from access_tokens where tenant_id = ${tenantId} order by id desc`.execute(db);
  return rows;
}

export async function getTokens(db: Db, tenantId: number, ids: readonly number[]): Promise<AccessTokenRow[]> {
  const { rows } = await sql<AccessTokenRow>`
    select ${COLUMNS} from access_tokens where tenant_id = ${tenantId} and id = any(${ids}::bigint[])`.execute(db);
  return rows;
}

export interface NewToken {
  readonly name: string;
  readonly hash: Uint8Array;
  readonly hint: string;
  readonly scopes: readonly string[];
  readonly callsPerMinute: number;
  readonly expiresAt: string | null;
}

export async function insertToken(db: Db, tenantId: number, token: NewToken): Promise<AccessTokenRow> {
  const { rows } = await sql<AccessTokenRow>`
    insert into access_tokens (tenant_id, name, hash, hint, scopes, calls_per_minute, expires_at)
    values (${tenantId}, ${token.name}, ${token.hash}, ${token.hint}, ${token.scopes}::text[], ${token.callsPerMinute}, ${token.expiresAt})
    returning ${COLUMNS}`.execute(db);
  return rows[0] as AccessTokenRow;
}

/** Revoking twice keeps the first time. */
export async function revokeToken(db: Db, tenantId: number, id: number): Promise<AccessTokenRow | undefined> {
  const { rows } = await sql<AccessTokenRow>`
    update access_tokens set revoked_at = coalesce(revoked_at, now()) where tenant_id = ${tenantId} and id = ${id}
    returning ${COLUMNS}`.execute(db);
  return rows[0];
}

import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { type AccessTokenRow, TOKEN_COLUMNS } from './store.ts';

/** An object that was created before the scopes of its creator were checked. */
export interface ScopeFinding {
  readonly tenant: string;
  readonly kind: 'webhook_endpoint' | 'bot' | 'integration';
  readonly object_id: number;
  readonly name: string;
  /** The scopes that creating it needs now. */
  readonly scopes: readonly string[];
  /** Names of tokens that could have created it without these scopes. */
  readonly tokens: readonly string[];
}

/** Returns the findings that were not listed before, those with such tokens first, and marks them as listed. */
export async function takeScopeFindings(db: Db): Promise<ScopeFinding[]> {
  const { rows } = await sql<ScopeFinding>`
    /* cross-tenant: the operator who upgrades is shown the findings of all tenants */
    with taken as (
      update scope_findings set listed_at = clock_timestamp() where listed_at is null
      returning tenant_id, kind, object_id, name, scopes, tokens
    )
    select t.slug as tenant, f.kind, f.object_id, f.name, f.scopes, f.tokens
    from taken f join tenants t on t.tenant_id = f.tenant_id
    order by cardinality(f.tokens) = 0, t.slug, f.kind, f.object_id`.execute(db);
  return rows;
}

/** A token that was used. */
export interface TokenUse {
  readonly tenantId: number;
  readonly tokenId: number;
}

/** Notes that tokens are in use, at most once a minute each. Rows that another process is writing are skipped. */
export async function writeLastUses(db: Db, uses: readonly TokenUse[]): Promise<void> {
  await sql`
    /* cross-tenant: the uses of all tenants that a process serves */
    with due as materialized (
      select t.tenant_id, t.id
      from unnest(${uses.map(({ tenantId }) => tenantId)}::bigint[], ${uses.map(({ tokenId }) => tokenId)}::bigint[]) as u (tenant_id, id)
      join access_tokens t on t.tenant_id = u.tenant_id and t.id = u.id
      where t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
      for no key update of t skip locked
    )
    update access_tokens t set last_used_at = now() from due d where t.tenant_id = d.tenant_id and t.id = d.id`.execute(
    db,
  );
}

/** Revokes a token. `is_new`: it was not revoked before. */
export async function endToken(
  trx: Db,
  tenantId: number,
  id: number,
): Promise<{ readonly token: AccessTokenRow; readonly is_new: boolean } | undefined> {
  const { rows } = await sql<AccessTokenRow & { is_new: boolean }>`
    with before as materialized (
      select revoked_at is null as is_new from access_tokens where tenant_id = ${tenantId} and id = ${id} for update
    )
    update access_tokens set revoked_at = coalesce(revoked_at, now()) from before where tenant_id = ${tenantId} and id = ${id}
    returning ${sql.raw(TOKEN_COLUMNS.join(', '))}, before.is_new`.execute(trx);
  const [row] = rows;
  if (!row) return undefined;
  const { is_new, ...token } = row;
  return { token, is_new };
}

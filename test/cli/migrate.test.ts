import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { run } from './program.ts';

test('migrate lists once the objects created before their creator’s scopes were checked', async () => {
  const [directory, database] = await Promise.all([mkdtemp(join(tmpdir(), 'parley-migrate-')), createTestDatabase()]);
  const { query } = database;
  await query(`with t as (insert into tenants (slug, name, plan_id) select 'shop', 'Shop', id from plans limit 1 returning tenant_id),
    k as (insert into access_tokens (tenant_id, name, hash, hint, scopes, calls_per_minute)
      select tenant_id, name, sha256(name::bytea), 'abcd', scopes, 60
      from t, (values ('hooks only', array['webhooks:write', 'contacts:read']), ('all', array['webhooks:write', 'contacts:read', 'messages:read', 'messages:send', 'bots:write']))
        as k (name, scopes)),
    w as (insert into webhook_endpoints (tenant_id, url, events, subscription, format, secret, listens_since, listens_since_seq)
      select tenant_id, url, events, sha256(url::bytea), 'standard', 'x', '0', 0
      from t, (values ('https://example.com/otp', array['otp.verified', 'message.*']), ('https://example.com/contacts', array['contact.*']))
        as w (url, events)),
    i as (insert into integrations (tenant_id, kind, name, key) select tenant_id, 'generic', 'Idle', 'key' from t)
    insert into bots (tenant_id, name, kind, trigger, reply) select tenant_id, 'Greeter', 'message', 'any', '{}' from t`);
  await query('drop table scope_findings');
  await query(await readFile('migrations/0022_scope_findings.sql', 'utf8'));
  const migrate = async () => (await run(directory, ['migrate'], { DATABASE_URL: database.url })).output;
  const lines = (await migrate()).split('\n').filter(line => line.startsWith('shop '));
  expect(
    lines.map(line =>
      line
        .split(/ {2,}/)
        .slice(1)
        .filter(cell => !/^\d+$/.test(cell)),
    ),
  ).toEqual([
    ['webhook_endpoint', 'https://example.com/otp', 'messages:read', 'hooks only'],
    ['bot', 'Greeter', 'messages:send'],
    ['webhook_endpoint', 'https://example.com/contacts', 'contacts:read'],
  ]);
  expect(await migrate()).not.toContain('shop ');
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

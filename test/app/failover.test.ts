import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/cli/migrate.ts';
import { loadConfig } from '../../src/config.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/gateway.ts';
import { pgbouncerPath, startPgBouncer } from '../support/pgbouncer.ts';
import {
  killAll,
  listeningUrl,
  seedTenant,
  sendText,
  sentReport,
  setWebhookUrl,
  startEmulatorProcess,
  startProgram,
} from '../support/processes.ts';
import { query, serverPrograms, startReplicatedPostgres } from '../support/replicated-postgres.ts';

/** The primary fails, and the standby that is promoted lacks its last commits. */

const SERVE = fileURLToPath(new URL('../chaos/gateway-process.ts', import.meta.url));
const LEASE_MS = 3_000;
const TIMES = {
  PARLEY_LANE_LEASE_MS: String(LEASE_MS),
  PARLEY_NETWORK_TIMEOUT_MS: '4000',
  PARLEY_RECONCILE_MS: '8000',
};
/** Channels, so that both workers send. */
const CHANNELS = 4;
const MESSAGES = 100;
/** Accepted by the network after the standby has got its last commit. */
const LOST = 60;
const NUMBERS = Array.from({ length: CHANNELS }, (_, index) => ({
  phoneNumberId: `10654035224292${index}`,
  wabaId: `10229012934039${index}`,
  displayPhoneNumber: `+1 555 078 388${index}`,
  verifiedName: `Channel ${index}`,
  accessToken: `access-token-${index}`,
  messagesPerSecond: 15,
}));

const CASES = [
  { when: 'within a lease', outageMs: 0, isPooled: false },
  { when: 'after every lease has expired', outageMs: 2 * LEASE_MS, isPooled: false },
  { when: 'within a lease, behind PgBouncer', outageMs: 0, isPooled: true },
].filter(({ isPooled }) => !isPooled || pgbouncerPath !== undefined);

describe.skipIf(serverPrograms === undefined)('after the promotion of a standby without the last commits', () => {
  test.each(CASES)(
    'two workers send no message twice: promoted $when',
    { timeout: 300_000 },
    async ({ outageMs, isPooled }) => {
      await using started = new AsyncDisposableStack();
      const postgres = await startReplicatedPostgres();
      started.defer(() => postgres.stop());
      const secretKey = randomBytes(32);
      const children = new Set<ChildProcess>();
      started.defer(() => killAll(children));
      // No status settles what a worker has forgotten.
      const faults = {
        window: 'open',
        pairLimit: false,
        throughputLimit: false,
        latencyMs: 200,
        dropStatuses: 1,
      } as const;
      const emulatorUrl = await startEmulatorProcess(children, NUMBERS, faults);
      const proxy = await startDatabaseProxy(postgres.primaryUrl);
      started.defer(() => proxy.stop());
      const pgbouncer = isPooled ? await startPgBouncer(proxy.databaseUrl) : undefined;
      started.defer(async () => pgbouncer?.stop());
      const address = pgbouncer
        ? {
            DATABASE_URL: pgbouncer.through(proxy.databaseUrl),
            PARLEY_PGBOUNCER: 'true',
            PARLEY_DIRECT_DATABASE_URL: proxy.databaseUrl,
          }
        : { DATABASE_URL: proxy.databaseUrl };
      await migrateDatabase(postgres.primaryUrl, loadConfig(address));
      const tokens: string[] = [];
      for (const [index, number] of NUMBERS.entries())
        tokens.push(await seedTenant(postgres.primaryUrl, secretKey, emulatorUrl, `tenant-${index}`, number));
      const mediaDirectory = await mkdtemp(join(tmpdir(), 'parley-failover-'));
      started.defer(() => rm(mediaDirectory, { recursive: true, force: true }));
      const env = {
        ...process.env,
        ...TIMES,
        PORT: '0',
        ...address,
        PARLEY_SECRET_KEY: secretKey.toString('base64'),
        PARLEY_NETWORK_URL: emulatorUrl,
        PARLEY_MEDIA_DIR: mediaDirectory,
        PARLEY_LOG_LEVEL: 'info',
        PARLEY_DATABASE_POOL: '6',
      };
      const start = (role: string): Promise<string> => listeningUrl(startProgram(children, [SERVE, role], env));
      const url = await start('gateway');
      await setWebhookUrl(emulatorUrl, url);
      await Promise.all([start('worker'), start('worker')]);

      // Held while it fills, however long that takes: enough must be left to send when the primary fails.
      await query(postgres.primaryUrl, 'update log_origin set outbox_held_at = now()');
      const ids = await Promise.all(
        tokens.flatMap((token, tenant) =>
          Array.from({ length: MESSAGES }, (_none, index) =>
            sendText(url, token, { to: `+1415555${tenant}${100 + index}`, text: 'Hi' }),
          ),
        ),
      );
      expect(ids).not.toContain(undefined);
      await query(postgres.primaryUrl, 'update log_origin set outbox_held_at = null');
      // All that was accepted for sending is replicated: only acceptances of the network are lost.
      await eventually(async () =>
        expect(
          await query(
            postgres.standbyUrl,
            'select (select count(*)::int from messages) as count, outbox_held_at is not null as held from log_origin',
          ),
        ).toEqual([{ count: CHANNELS * MESSAGES, held: false }]),
      );
      const sent = async (): Promise<number> => (await sentReport(emulatorUrl)).total;
      await eventually(async () => expect(await sent()).toBeGreaterThan(0));
      postgres.stopReplication();
      const before = await sent();
      await eventually(async () => expect(await sent()).toBeGreaterThan(before + LOST));
      proxy.cut();
      await postgres.killPrimary();
      await postgres.promote();
      // As many transactions as were lost: no process sees the ids decrease.
      await query(
        postgres.standbyUrl,
        'do $$ begin for i in 1 .. 5000 loop perform pg_current_xact_id(); commit; end loop; end $$',
      );
      await new Promise(resolve => setTimeout(resolve, outageMs));
      proxy.redirect(postgres.standbyUrl);
      proxy.mend();
      await eventually(async () =>
        expect(await query(postgres.standbyUrl, 'select message_id from outbox')).toEqual([]),
      );
      expect(await sentReport(emulatorUrl)).toMatchObject({ total: CHANNELS * MESSAGES, duplicates: 0 });
      expect(
        await query(
          postgres.standbyUrl,
          'select count(*)::int as held from log_origin where outbox_held_at is not null',
        ),
      ).toEqual([{ held: 0 }]);
    },
  );
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../support/answers.ts';
import { eventually, type TestGateway } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Caller, type Harness, otherThan, startHarness } from './harness.ts';

let harness: Harness;
let caller: Caller;
beforeAll(async () => {
  harness = await startHarness();
  caller = await harness.tenant();
});
afterAll(() => harness.gateway.stop());

/** Every row of every table as text, bytes among it both as they are shown and as the letters they may be. */
async function everything({ database: { query } }: TestGateway): Promise<string> {
  const tables = await query<{ name: string; bytes: string[] | null }>(`
    select format('%I.%I', n.nspname, c.relname) as name,
      (select array_agg(format('%I', a.attname)) from pg_attribute a where a.attrelid = c.oid and a.atttypid = 'bytea'::regtype) as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema)'`);
  expect(tables.length).toBeGreaterThan(20);
  const texts = await Promise.all(
    tables.map(async ({ name, bytes }) => {
      const letters = (bytes ?? []).map(column => `coalesce(encode(${column}, 'escape'), '')`).join(" || ' ' || ");
      const rows = await query<{ row: string }>(`select t::text || ' ' || ${letters || "''"} as row from ${name} t`);
      return rows.map(({ row }) => row).join('\n');
    }),
  );
  return texts.join('\n');
}

/** Six digits may stand in an id or a time by chance: as a word they do not. */
const holds = (text: string, code: string): boolean =>
  /^\d{6}$/.test(code) ? new RegExp(`(?<![0-9a-f.])${code}(?![0-9a-f])`).test(text) : text.includes(code);

async function nobodyKnows({ gateway }: Harness, codes: readonly string[]): Promise<void> {
  const [stored, logged] = [await everything(gateway), gateway.logs.map(line => JSON.stringify(line)).join('\n')];
  for (const code of codes) {
    expect(holds(stored, code), 'the code in the database').toBe(false);
    expect(holds(stored, Buffer.from(code).toString('hex')), 'its bytes').toBe(false);
    expect(holds(logged, code), 'the code in the log').toBe(false);
  }
}

test('a code is never stored in the database or logged, whether sent, tried, verified or refused', async () => {
  const { emulator } = harness.gateway;
  const phone = newPhone();
  const given = 'Kq7-Wd2x-83';
  expect(holds(JSON.stringify({ text: '482913', more: 1 }), '482913')).toBe(true);

  dataOf(await caller.send({ phone, code: given, idempotencyKey: crypto.randomUUID() }));
  expect(await caller.codeFor(phone)).toBe(given);
  await eventually(async () =>
    expect(await harness.gateway.database.query('select from outbox where tenant_id = $1', [caller.id])).toEqual([]),
  );

  dataOf(await caller.send({ phone, purpose: 'ours', idempotencyKey: crypto.randomUUID() }));
  const made = await caller.codeFor(phone);
  await caller.verify(phone, otherThan(made), { purpose: 'ours' });
  await caller.verify(phone, made, { purpose: 'ours' });
  await caller.verify(phone, given);

  emulator.setFaults({ next: [{ errorCode: 131_026 }] });
  const refused = 'Jm4-Rf9y-51';
  await caller.send({ phone, code: refused });
  await caller.send({ phone, code: refused, templateName: 'order' });
  await nobodyKnows(harness, [given, made, refused]);
  expect(harness.gateway.logs.length).toBeGreaterThan(0);
});

test('a code of a queued message is stored encrypted only', async () => {
  // Nobody sends here.
  const waiting = await startHarness({ role: 'gateway' });
  try {
    const sender = await waiting.tenant();
    const code = 'Kq7-Wd2x-84';
    dataOf(
      await sender.send({ phone: newPhone(), code, waitForAcceptance: false, idempotencyKey: crypto.randomUUID() }),
    );
    const rows = await waiting.gateway.database.query('select sealed from outbox where tenant_id = $1', [sender.id]);
    expect(rows).toEqual([{ sealed: expect.any(Buffer) }]);
    await nobodyKnows(waiting, [code]);
  } finally {
    await waiting.gateway.stop();
  }
});

test('equal codes have different HMACs, which cannot be computed without the secret key', async () => {
  const phones = [newPhone(), newPhone()];
  for (const phone of phones)
    for (const purpose of ['a', 'b', 'b']) dataOf(await caller.send({ phone, purpose, code: '123456' }));
  const rows = (await caller.rows()).filter(row => phones.includes(String(row['phone'])));
  const macs = rows.map(row => (row['mac'] as Buffer).toString('hex'));
  expect([macs.length, new Set(macs).size]).toEqual([6, 6]);
});

test('the fingerprint of a request with an idempotency key does not reveal its code', async () => {
  const { createHash } = await import('node:crypto');
  const { query } = harness.gateway.database;
  const input = {
    phone: newPhone(),
    templateName: 'login_code',
    language: 'en',
    expiryMinutes: 10,
    purpose: 'authentication',
    code: '123456',
  };
  const idempotencyKey = crypto.randomUUID();
  dataOf(await caller.send({ ...input, idempotencyKey }));
  const sorted = JSON.stringify(Object.fromEntries(Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1))));
  const [row] = await query<{ fingerprint: Buffer }>(
    `select fingerprint from idempotency_keys where key = encode(sha256(convert_to($1, 'UTF8')), 'hex')`,
    [idempotencyKey],
  );
  const bare = createHash('sha256').update(`sendOtp ${sorted}`).digest();
  expect(row?.fingerprint.equals(bare)).toBe(false);
});

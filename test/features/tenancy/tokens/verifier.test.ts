import fc from 'fast-check';
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { expect, test, vi } from 'vitest';
import { parseScopes, SCOPES } from '../../../../src/core/scopes.ts';
import type { Database, Schema } from '../../../../src/database/database.ts';
import { generateToken, hashToken, hintOf, isWellFormed } from '../../../../src/features/tenancy/tokens/token.ts';
import { createTokenVerifier } from '../../../../src/features/tenancy/tokens/verifier.ts';
import { createLog } from '../../../../src/platform/log.ts';

const ROW = {
  token_id: 1,
  token_name: 't',
  scopes: ['contacts:read'],
  calls_per_minute: 60,
  expires_at: null,
  tenant_id: 7,
  slug: 's',
  tenant_name: 'S',
  plan_name: 'p',
  features: ['otp'],
  tenant_calls_per_minute: 600,
  window_policy: 'network',
  default_source_id: null,
  default_status_id: null,
};

/** A verifier over a database whose answers and delays the test decides, with a clock that it moves. */
function verifierOver(answer: (look: number) => Promise<object[]>) {
  let looks = 0;
  const clock = { time: 1_000_000, setBack: 0, now: () => clock.time - clock.setBack, monotonic: () => clock.time };
  class Driver extends DummyDriver {
    override async acquireConnection() {
      return {
        async executeQuery<R>({ parameters }: CompiledQuery): Promise<QueryResult<R>> {
          looks += 1;
          // The token that is looked up.
          const hash = parameters.flat().find(value => Buffer.isBuffer(value));
          return { rows: (await answer(looks)).map(row => ({ ...row, hash })) as R[] };
        },
        // biome-ignore lint/correctness/useYield: never called
        async *streamQuery(): AsyncGenerator<never> {
          throw new Error('Nobody streams.');
        },
      };
    }
  }
  const read = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new Driver(),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const database: Pick<Database, 'read'> = { read };
  const verifier = createTokenVerifier(database as Database, undefined, clock, createLog('silent'));
  return { verifier, clock, looks: () => looks };
}

test('a revocation is never undone by a look that began before it', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  const { verifier } = verifierOver(async look => {
    if (look > 1) return [];
    await held;
    return [ROW];
  });
  const token = generateToken();
  const before = verifier.verify(token);
  verifier.forgetAll();
  release();
  await before;
  expect(await verifier.verify(token)).toBeUndefined();
});

test('a token expires by the clock of the database, not of this process', async () => {
  const row = { ...ROW, expires_at: '2001-01-01T00:00:00.000Z', expires_in_ms: 2_000 };
  const { verifier, clock } = verifierOver(async () => [row]);
  const token = generateToken();
  expect(await verifier.verify(token)).toMatchObject({ tokenId: 1 });
  clock.time += 1_999;
  expect(await verifier.verify(token)).toMatchObject({ tokenId: 1 });
  clock.time += 1;
  expect(await verifier.verify(token)).toBeUndefined();
});

test('no answer is believed for 5 seconds, and a token in use is looked up beside its requests', async () => {
  const { verifier, clock, looks } = verifierOver(async () => [ROW]);
  const token = generateToken();
  for (let second = 0; second < 60; second += 1) {
    expect(await verifier.verify(token)).toMatchObject({ tokenId: 1 });
    clock.time += 1_000;
  }
  expect(looks()).toBeLessThanOrEqual(21);
  clock.time += 4_600;
  const before = looks();
  await verifier.verify(token);
  expect(looks()).toBe(before + 1);
});

test('no answer is believed for 5 seconds where the clock was set back meanwhile', async () => {
  const { verifier, clock } = verifierOver(async look => (look === 1 ? [ROW] : []));
  const token = generateToken();
  expect(await verifier.verify(token)).toBeDefined();
  clock.setBack = 3_600_000;
  clock.time += 5_000;
  expect(await verifier.verify(token)).toBeUndefined();
});

test('who is watched is found to have ended within 5 seconds, however fresh the last look was', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    for (const ageMs of [0, 400, 900, 1_400, 1_900, 2_400, 3_900, 4_400]) {
      let revoked = false;
      const { verifier, clock } = verifierOver(async () => (revoked ? [] : [ROW]));
      const token = generateToken();
      let endedAt: number | undefined;
      const stop = verifier.watch(token, () => {
        endedAt = clock.time;
      });
      // The look that is believed lies so long before the next round of the watch.
      await tick(clock, 2_000 - (ageMs % 2_000));
      await verifier.verify(token);
      revoked = true;
      const revokedAt = clock.time;
      for (let step = 0; step < 60 && endedAt === undefined; step += 1) await tick(clock, 100);
      expect((endedAt ?? Number.POSITIVE_INFINITY) - revokedAt, `a look ${ageMs} ms before`).toBeLessThan(4_500);
      stop();
    }
  } finally {
    vi.useRealTimers();
  }
});

async function tick(clock: { time: number }, ms: number): Promise<void> {
  clock.time += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

test('a failed look-up does not reject a token that was valid a moment ago', async () => {
  const { verifier, clock } = verifierOver(async look => {
    if (look > 1) throw new Error('down');
    return [ROW];
  });
  const token = generateToken();
  await verifier.verify(token);
  clock.time += 3_000;
  expect(await verifier.verify(token)).toMatchObject({ tokenId: 1 });
  clock.time += 2_000;
  await expect(verifier.verify(token)).rejects.toThrow('down');
});

test('a generated token is well-formed, and one changed character anywhere makes it malformed', () => {
  fc.assert(
    fc.property(fc.nat(48), fc.constantFrom(...'0aZ-_ é'), (at, character) => {
      const token = generateToken();
      expect(isWellFormed(token)).toBe(true);
      const changed = token.slice(0, 4 + at) + character + token.slice(5 + at);
      expect(isWellFormed(changed)).toBe(changed === token);
      expect(hashToken(changed).equals(hashToken(token))).toBe(changed === token);
      expect(hintOf(token)).toBe(token.slice(-4));
    }),
  );
});

test('no other text is a well-formed token', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map(text => `ply_${text}`),
        fc.string({ minLength: 49, maxLength: 49, unit: fc.constantFrom(...'0123abcXYZ') }).map(text => `ply_${text}`),
      ),
      text => !isWellFormed(text),
    ),
  );
});

test('tokens do not repeat', () => expect(new Set(Array.from({ length: 2_000 }, generateToken)).size).toBe(2_000));

test('scopes are read to canonical ones, sorted, each once, and reading them again changes nothing', () => {
  const word = fc.oneof(
    fc.constantFrom(
      ...SCOPES,
      '*',
      'contacts:*',
      'contacts.*',
      'groups.create',
      'groups.update',
      'sources.list',
      'statuses.view',
      ' contacts:read ',
    ),
    fc.string(),
    fc
      .tuple(
        fc.constantFrom('contacts', 'tokens', '*', 'constructor', ''),
        fc.constantFrom('.', ':', '::', '.:'),
        fc.constantFrom('read', 'write', '*', 'create', '__proto__', ''),
      )
      .map(parts => parts.join('')),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), words => {
      const { scopes, unknown } = parseScopes(words);
      expect(scopes).toEqual([...new Set(scopes)].sort());
      for (const scope of scopes) expect(SCOPES).toContain(scope);
      expect(parseScopes(scopes)).toEqual({ scopes, unknown: [] });
      // Every word either is told as unknown or grants something by itself.
      for (const one of words.filter(text => text.trim() !== '')) {
        const alone = parseScopes([one]);
        expect(alone.scopes.length > 0).toBe(alone.unknown.length === 0);
        expect(unknown.includes(one.trim())).toBe(alone.unknown.length > 0);
      }
    }),
  );
});

test('a scope with a suffix after its action, or a prefix before its resource, is invalid', () => {
  for (const word of [
    'contacts:read:x',
    'contacts.read.x',
    'contacts:*:x',
    'contacts.*.*',
    'x:contacts:read',
    '*:read',
    '*.*',
    'contacts:',
    ':read',
    'contacts',
    'CONTACTS:READ',
  ]) {
    expect(parseScopes([word]), word).toEqual({ scopes: [], unknown: [word] });
  }
});

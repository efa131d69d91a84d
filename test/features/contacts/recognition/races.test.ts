import { afterAll, beforeAll, expect, test } from 'vitest';
import { mergeContacts } from '../../../../src/features/contacts/merging/merge.ts';
import type { Evidence } from '../../../../src/features/contacts/recognition/evidence.ts';
import { recognise } from '../../../../src/features/contacts/recognition/recognise.ts';
import { isTransient } from '../../../../src/features/inbox/is-transient.ts';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { PARLEY_DATABASE_POOL: '10' } });
});
afterAll(() => gateway.stop());

/** A new user id of somebody whose number is known: a change of the contact. */
const newUserId = (phone: string): Evidence => ({
  atMs: Date.now(),
  portfolio: 'race',
  after: { waId: phone.slice(1), userId: `DE.${phone.slice(1)}`, parentUserId: undefined },
});

const phonesOf = async (prefix: string, count: number): Promise<{ id: number; phone: string }[]> => {
  const people: { id: number; phone: string }[] = [];
  for (let index = 0; index < count; index += 1) {
    const phone = `${prefix}${index}`;
    people.push({ id: (await seedOf(gateway).contact({ phone })).id, phone });
  }
  return people;
};

test('once the contacts to change turn out to be others, no other identity change comes first', async () => {
  const { tenant } = gateway;
  const { db } = gateway.gateway.resources;
  const people = await phonesOf('+4915199881', 4);
  const [first, second, ...others] = people;
  const order: string[] = [];
  let merging: Promise<unknown> | undefined;
  let attempts = 0;
  await db.transaction(async trx => {
    await recognise(
      trx,
      tenant.id,
      async () => {
        attempts += 1;
        if (attempts === 2) {
          // Waits for the lock that this attempt holds, and would get it before the next attempt.
          merging = db
            .transaction(other =>
              mergeContacts(other, tenant.id, {
                ids: others.map(({ id }) => id),
                reason: 'manual',
                author: COMMAND_LINE,
                nowMs: Date.now(),
              }),
            )
            .then(() => order.push('merged'));
          await eventually(async () =>
            expect(
              await gateway.database.query(
                `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
              ),
            ).toHaveLength(1),
          );
        }
        const seen = attempts < 2 ? [first] : [first, second];
        return seen.map(person => newUserId(person?.phone ?? ''));
      },
      Date.now(),
    );
    order.push('recognised');
  });
  await merging;
  expect({ order, attempts }).toEqual({ order: ['recognised', 'merged'], attempts: 3 });
});

test('a recognition that needs other contacts at every attempt fails as a conflict that is retried', async () => {
  const people = await phonesOf('+4915199882', 7);
  let attempts = 0;
  const error = await gateway.gateway.resources.db
    .transaction(trx =>
      recognise(
        trx,
        gateway.tenant.id,
        async () => people.slice(0, ++attempts).map(({ phone }) => newUserId(phone)),
        Date.now(),
      ),
    )
    .catch((reason: unknown) => reason);
  expect(attempts).toBe(6);
  expect(error).toBeInstanceOf(Error);
  expect(isTransient(error)).toBe(true);
});

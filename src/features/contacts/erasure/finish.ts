import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { eraseEvents } from '../../../events/erase.sql.ts';
import { MINUTE, SECOND } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { eraseChanges, eraseUnrouted, eraseWebhooks, type PeopleInWebhooks } from '../../inbox/erase.ts';
import { eraseKeys, eraseKeysOfNumbers, eraseSharedKeys } from '../../tenancy/idempotency/erase.ts';
import { eraseDeliveries } from '../../webhooks/erase.ts';
import { addCounts } from './erasure.sql.ts';
import { type ErasedKind, publicReceipt, type RetainedKind, signatureOf } from './receipt.ts';
import { wasHeldAt } from './shared-number.ts';
import { completeReceipt, deleteExpiredDigests, findInterrupted, lockPending } from './store.ts';
import { contactIdsOf, type Subject } from './subject.ts';

type FinishResources = Pick<Resources, 'db' | 'clock' | 'secrets' | 'log'> & {
  readonly signals: Pick<Resources['signals'], 'send'>;
};

/** Rows per transaction: locks are held for a few tenths of a second. */
const BATCH = 1_000;
/** Smaller, because this process parses the bodies. */
const WEBHOOK_BATCH = 200;
/** Larger, because the database searches the keys: 40 µs each. */
const KEY_BATCH = 5_000;
/** Interrupted erasures are resumed after this. */
const INTERRUPTED_MS = 2 * MINUTE;

interface Job {
  readonly tenantId: number;
  readonly receiptIds: readonly string[];
  readonly subjects: readonly Subject[];
  /** Receipt id by contact id, for the counts. */
  readonly receiptOf: ReadonlyMap<number, string>;
  readonly nowIso: string;
  readonly progress: ((rows: number) => void) | undefined;
}

/**
 * Blanks personal data of deleted contacts in the event log, webhooks and idempotency keys, then completes their receipts. Each
 * step is one transaction, including its counts, and is idempotent: an interrupted job can be restarted at any time, even by two
 * processes at once.
 */
export async function finishErasures(
  resources: FinishResources,
  tenantId: number,
  receiptIds: readonly string[],
  progress?: (rows: number) => void,
): Promise<void> {
  const { db, clock, secrets, signals } = resources;
  const pending = await db.transaction(trx => lockPending(trx, tenantId, receiptIds));
  if (pending.length === 0) return;
  const subjects = pending.map(({ pending: sealed }) => JSON.parse(secrets.open(sealed)) as Subject);
  const job: Job = {
    tenantId,
    receiptIds: pending.map(({ id }) => id),
    subjects,
    receiptOf: new Map(
      subjects.flatMap((subject, index) =>
        contactIdsOf([subject]).map(contactId => [contactId, pending[index]?.id ?? ''] as const),
      ),
    ),
    nowIso: new Date(clock.now()).toISOString(),
    progress,
  };
  await blankNetworkWebhooks(db, job);
  await blankKeys(db, job);
  // Delivery attempts in flight append events while deliveries are being ended: repeat until nothing is left.
  for (let found = true; found; ) {
    const events = await repeat(db, trx => blankEvents(trx, job));
    const deliveries = await repeat(db, trx => endDeliveries(trx, job));
    found = events + deliveries > 0;
  }
  await db.transaction(trx => complete(resources, trx, job));
  signals.send('events');
}

/** Runs a step in separate transactions until it finds less than a batch. @returns the number of rows */
async function repeat(db: Resources['db'], step: (trx: Db) => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const rows = await db.transaction(step);
    total += rows;
    if (rows < BATCH) return total;
  }
}

async function blankEvents(trx: Db, job: Job): Promise<number> {
  const contacts = await eraseEvents(trx, job.tenantId, [...job.receiptOf.keys()], job.nowIso, BATCH);
  await count(trx, job, 'erased', 'event', tally(contacts));
  await count(trx, job, 'retained', 'event', tally(contacts));
  job.progress?.(contacts.length);
  return contacts.length;
}

async function endDeliveries(trx: Db, job: Job): Promise<number> {
  const deliveries = await eraseDeliveries(trx, job.tenantId, [...job.receiptOf.keys()], job.nowIso, BATCH);
  const of = (pending: boolean): Map<number, number> =>
    tally(deliveries.filter(({ was_pending }) => was_pending === pending).map(({ contact_id }) => contact_id));
  await count(trx, job, 'erased', 'webhook_delivery_cancelled', of(true));
  await count(trx, job, 'erased', 'webhook_delivery', of(false));
  job.progress?.(deliveries.length);
  return deliveries.length;
}

async function blankKeys({ transaction }: Resources['db'], job: Job): Promise<void> {
  const people = {
    contactIds: [...job.receiptOf.keys()],
    otpIds: job.subjects.flatMap(({ otpIds }) => otpIds),
    texts: job.subjects.flatMap(({ texts }) => texts),
  };
  await transaction(async trx => {
    await count(trx, job, 'erased', 'idempotency_key', await eraseKeys(trx, job.tenantId, people.contactIds));
  });
  const shared = (trx: Db, after: string | undefined) => eraseSharedKeys(trx, job.tenantId, people, KEY_BATCH, after);
  const known = new Set(people.texts);
  const lostNumbers = job.subjects
    .flatMap(subject => subject.shared)
    .filter(({ spellings }) => !spellings.some(text => known.has(text)))
    .map(number => ({ spellings: number.spellings, belongsToContact: (atMs: number) => wasHeldAt(number, atMs) }));
  const eraseLost = (trx: Db, after: string | undefined) =>
    eraseKeysOfNumbers(trx, job.tenantId, lostNumbers, KEY_BATCH, after);
  for (const erase of lostNumbers.length > 0 ? [shared, eraseLost] : [shared]) {
    for (let after: string | null | undefined; after !== null; ) {
      const from = after;
      const page = await transaction(async trx => {
        const blanked = await erase(trx, from);
        // Rows about several people are counted on the first receipt.
        await count(trx, job, 'erased', 'idempotency_key', new Map([[0, blanked.count]]));
        return blanked;
      });
      after = page.after;
    }
  }
}

async function blankNetworkWebhooks({ transaction }: Resources['db'], job: Job): Promise<void> {
  for (const { contactId, identities, shared } of job.subjects) {
    if (identities.length === 0 && shared.length === 0) continue;
    const isShared = new Set(shared.map(({ identity }) => identity));
    const people: PeopleInWebhooks = {
      identities: new Set(identities.filter(identity => !isShared.has(identity))),
      shared: shared.map(number => ({ identity: number.identity, belongsToContact: atMs => wasHeldAt(number, atMs) })),
    };
    for (const erase of [eraseWebhooks, eraseChanges, eraseUnrouted]) {
      for (let after: string | undefined; ; ) {
        const page = await transaction(async trx => {
          const erased = await erase(trx, job.tenantId, people, WEBHOOK_BATCH, after);
          const counts = new Map([[contactId, erased.count]]);
          await count(trx, job, 'erased', 'network_webhook', counts);
          await count(trx, job, 'retained', 'network_webhook', counts);
          return erased;
        });
        job.progress?.(page.count);
        if (page.after === undefined) break;
        after = page.after;
      }
    }
  }
}

const tally = (contactIds: readonly number[]): Map<number, number> => {
  const counts = new Map<number, number>();
  for (const id of contactIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
};

/** Adds counts by contact to their receipts. Rows about several people are counted on the first receipt. */
function count(
  trx: Db,
  { tenantId, receiptOf, receiptIds }: Job,
  list: 'erased' | 'retained',
  kind: ErasedKind | RetainedKind,
  counts: ReadonlyMap<number, number>,
): Promise<void> {
  const rows = [...counts].map(([contactId, number]) => ({
    id: receiptOf.get(contactId) ?? receiptIds[0] ?? '',
    list,
    kind,
    count: number,
  }));
  return addCounts(trx, tenantId, rows);
}

async function complete({ clock, secrets }: FinishResources, trx: Db, { tenantId, receiptIds }: Job): Promise<void> {
  const completedAt = new Date(clock.now()).toISOString();
  for (const { pending, ...receipt } of await lockPending(trx, tenantId, receiptIds)) {
    const { contact } = JSON.parse(secrets.open(pending)) as Subject;
    const row = { ...receipt, completed_at: completedAt };
    const signed = { ...row, signature: signatureOf(secrets, tenantId, row) };
    await completeReceipt(trx, tenantId, signed);
    await append(trx, tenantId, [{ type: 'contact.erased', payload: { contact, receipt: publicReceipt(signed) } }]);
  }
}

/** Resumes interrupted erasures and deletes expired digests. */
export async function resumeErasures(resources: FinishResources): Promise<void> {
  const { db, clock, log } = resources;
  const now = clock.now();
  const interrupted = await findInterrupted(db.write, new Date(now - INTERRUPTED_MS).toISOString(), 100);
  for (const { tenant_id: tenantId, id } of interrupted) {
    log.info({ tenantId, receiptId: id }, 'resuming an interrupted erasure');
    // One that fails holds up none of the others.
    await finishErasures(resources, tenantId, [id]).catch((error: unknown) =>
      log.error(
        { err: error, tenantId, receiptId: id },
        'an erasure could not be finished; it is resumed a minute later',
      ),
    );
  }
  await deleteExpiredDigests(db.write, new Date(now - SECOND).toISOString());
}

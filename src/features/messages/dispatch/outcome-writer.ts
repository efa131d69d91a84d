import type { Db } from '../../../database/database.ts';
import { isDataRefused } from '../../../database/is-data-refused.ts';
import { BatchedWriter, type Pending } from '../../../lanes/batched-writer.ts';
import type { Lane, LaneTurn } from '../../../lanes/lane.ts';
import { findHeldEpochs } from '../../../lanes/store/lanes.sql.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { storeRecipientIdentities } from '../../contacts/resolve-contacts.ts';
import { applyToMessages, type MessageStatusUpdate } from '../statuses/apply-statuses.ts';
import { isMarketingStopped, recordMarketingOptOuts } from '../statuses/marketing-opt-outs.ts';
import { type Postponed, postpone } from './outbox.sql.ts';

/** Outcomes that arrive within this time share one transaction. */
const FLUSH_MS = 5;
/** While lanes drain, outcomes of this time share a transaction, unless `HURRY` applies. */
const SPACING_MS = 75;
/** Once this many outcomes wait, they are written almost at once. */
const HURRY = { flushMs: 1, items: 64 };
/** Longest retry delay. Outcomes stay in memory while the database is unavailable, because no other record of acceptances exists. */
const MAX_PAUSE_MS = SECOND;
/** Outcomes of one transaction. */
const MAX_BATCH = 500;
/** Concurrent transactions. */
const MAX_RUNNING = 2;

/** The turn of an attempt. */
type OutcomeLane = LaneTurn & Pick<Lane, 'isStopping'>;

/** The outcome of a send attempt. */
export type Outcome =
  | {
      readonly lane: OutcomeLane;
      readonly kind: 'settled';
      readonly type: string;
      readonly status: MessageStatusUpdate;
    }
  | { readonly lane: OutcomeLane; readonly kind: 'postponed'; readonly postponed: Postponed };

/** The result of a write: whether a later message was unblocked. */
type Entry = Pending<Outcome, boolean>;

/**
 * Writes the outcomes of send attempts for all lanes of the process. An acceptance by the network is always written; other outcomes
 * are fenced by the lane's lease.
 */
export class OutcomeWriter {
  readonly #resources: Pick<Resources, 'db' | 'signals' | 'clock' | 'log'>;
  readonly #writer = new BatchedWriter<Outcome, boolean>(entries => this.#write(entries), {
    flushMs: FLUSH_MS,
    spacingMs: SPACING_MS,
    hurry: HURRY,
    backoffFactor: 4,
    maxBackoffMs: MAX_PAUSE_MS,
    maxSize: MAX_BATCH,
    maxRunning: MAX_RUNNING,
  });

  constructor(resources: Pick<Resources, 'db' | 'signals' | 'clock' | 'log'>) {
    this.#resources = resources;
  }

  /** Whether the last write failed; a lane with unwritten outcomes then claims no messages. */
  get isFailing(): boolean {
    return this.#writer.failures > 0;
  }

  /** Never rejects: outcomes that cannot be written are retried. @returns whether a later message was unblocked */
  write(outcome: Outcome): Promise<boolean> {
    return this.#writer.add(outcome);
  }

  /** @returns the outcomes to be written again */
  async #write(batch: readonly Entry[]): Promise<readonly Entry[]> {
    const [alone, entries] = [batch.filter(locksContact), batch.filter(entry => !locksContact(entry))];
    for (const ofTenant of byTenant(alone)) void this.#writeApart(ofTenant);
    try {
      const locked = await this.#store(entries, 'skip');
      // One transaction per tenant, so that a lock on one tenant's message does not block the others.
      for (const ofTenant of byTenant(locked)) void this.#writeApart(ofTenant);
      return [];
    } catch (error) {
      return this.#handleFailure(entries, error);
    }
  }

  /** Writes outcomes of one tenant beside the batches, because it may wait for locks. */
  async #writeApart(entries: readonly Entry[]): Promise<void> {
    try {
      await this.#store(entries, 'wait');
    } catch (error) {
      this.#writer.retry(await this.#handleFailure(entries, error));
    }
  }

  /** Writes outcomes for which a retry has no chance, one by one, and drops those that fail. @returns those to retry later */
  async #handleFailure(entries: readonly Entry[], error: unknown): Promise<readonly Entry[]> {
    const { log } = this.#resources;
    log.error({ err: error, outcomes: entries.length }, 'writing outcomes failed and will be retried');
    const isRetried = (entry: Entry): boolean => mayWriteLater(error) && !entry.item.lane.isStopping;
    // The one that fails is settled by its status webhook after its lease expires.
    for (const entry of entries.filter(one => !isRetried(one))) {
      await this.#store([entry], 'wait')
        .catch(async cause => {
          if (!isDataRefused(cause)) throw cause;
          log.error({ err: cause, lane: entry.item.lane.key }, 'an outcome is stored without the texts of the network');
          await this.#store([{ ...entry, item: withoutTexts(entry.item) }], 'wait');
        })
        .catch(cause => {
          log.error(
            { err: cause, lane: entry.item.lane.key },
            'the outcome of a send could not be stored; its status webhook settles the message',
          );
          entry.written(false);
        });
    }
    return entries.filter(isRetried);
  }

  /** Writes outcomes in one transaction. @returns those skipped because their messages are locked by others */
  async #store(entries: readonly Entry[], locked: 'wait' | 'skip'): Promise<Entry[]> {
    const { db, signals } = this.#resources;
    const { handled, released, newIdentities } = await db.transaction(trx => this.#apply(trx, entries, locked));
    const isLeftOut = ({ item: outcome }: Entry): boolean =>
      locked === 'skip' && outcome.kind === 'settled' && !handled.has(outcome);
    // Locks contacts, so it runs in a transaction of its tenant and does not block others.
    const identityWrites = new Map(
      [...Map.groupBy(newIdentities, ({ tenantId }) => tenantId)].map(([tenantId, people]) => {
        const senders = people.map(({ sender }) => sender);
        return [tenantId, storeRecipientIdentities(this.#resources, tenantId, senders)] as const;
      }),
    );
    for (const entry of entries.filter(one => !isLeftOut(one))) {
      const written = (): void => entry.written(released.has(entry.item));
      const identityWrite = identityWrites.get(entry.item.lane.tenantId);
      if (identityWrite) void identityWrite.then(written);
      else written();
    }
    if (entries.some(({ item: outcome }) => outcome.kind === 'settled')) signals.send('events');
    return entries.filter(isLeftOut);
  }

  async #apply(trx: Db, entries: readonly Entry[], locked: 'wait' | 'skip') {
    const { clock } = this.#resources;
    const settled = entries.flatMap(({ item: outcome }) => (outcome.kind === 'settled' ? [outcome] : []));
    // Opt-outs are not fenced by the lease. Lock order: contacts before messages.
    for (const [tenantId, outcomes] of Map.groupBy(
      settled.filter(({ status }) => isMarketingStopped(status.error)),
      ({ lane }) => lane.tenantId,
    ))
      await recordMarketingOptOuts(
        trx,
        tenantId,
        outcomes.map(({ status }) => ({ messageId: status.messageId, error: status.error })),
      );
    const fenced = settled.filter(({ status }) => status.status !== 'sent');
    const held =
      fenced.length > 0
        ? await findHeldEpochs(
            trx,
            fenced.map(({ lane }) => lane),
          )
        : new Set<number>();
    const lost = fenced.filter(({ lane }) => !held.has(lane.epoch));
    const writable = settled.filter(outcome => !lost.includes(outcome));
    const applied = await applyToMessages(
      trx,
      writable.map(({ status }) => status),
      clock.now(),
      locked,
    );
    await postpone(
      trx,
      entries.flatMap(({ item: outcome }) =>
        outcome.kind === 'postponed' ? [{ ...outcome.postponed, lane: outcome.lane }] : [],
      ),
    );
    const found = new Set(applied.found.map(({ tenantId, messageId }) => `${tenantId} ${messageId}`));
    const released = new Set(
      applied.settled.filter(row => row.is_released).map(row => `${row.tenant_id} ${row.message_id}`),
    );
    const keyOf = ({ status }: (typeof settled)[number]): string => `${status.tenantId} ${status.messageId}`;
    return {
      newIdentities: applied.newIdentities,
      // Lost ones count as handled.
      handled: new Set<Outcome>([...lost, ...writable.filter(outcome => found.has(keyOf(outcome)))]),
      released: new Set<Outcome>(writable.filter(outcome => released.has(keyOf(outcome)))),
    };
  }
}

/** Writing an opt-out or a reaction locks contacts, so it uses a transaction per tenant. */
const locksContact = ({ item: outcome }: Entry): boolean =>
  outcome.kind === 'settled' && (outcome.type === 'reaction' || isMarketingStopped(outcome.status.error));

const byTenant = (entries: readonly Entry[]): Iterable<Entry[]> =>
  Map.groupBy(entries, ({ item: outcome }) => outcome.lane.tenantId).values();

/**
 * The network's texts and ids are the only data that is not checked before. Without its outcome a refused message would be sent for ever;
 * the statuses of one without a network id find it by our id.
 */
function withoutTexts(outcome: Outcome): Outcome {
  if (outcome.kind === 'postponed') return { ...outcome, postponed: { ...outcome.postponed, reason: undefined } };
  const { person: _person, wamid: _wamid, error, ...status } = outcome.status;
  return { ...outcome, status: { ...status, ...(error && { error: { code: error.code, title: '', details: '' } }) } };
}

/** Whether a retry may succeed: all errors except refused data and bugs. */
function mayWriteLater(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError || isDataRefused(error)) return false;
  const code = (error as { code?: unknown }).code;
  return typeof code !== 'string' || !/^(?:0A|21|42)/.test(code);
}

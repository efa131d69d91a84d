import { SECOND } from '../../../platform/clock.ts';
import type { MessageStatusUpdate } from '../statuses/apply-statuses.ts';
import type { Claimed, MessageRef } from './outbox.sql.ts';

/** An acceptance by the network. */
export interface Acceptance {
  readonly type: string;
  readonly status: MessageStatusUpdate;
}

/** A message whose call has begun; it may have been accepted. */
export interface BegunCall extends MessageRef {
  readonly attempts: number;
}

interface Entry extends BegunCall {
  readonly acceptance?: Acceptance;
  /** When the call began or was accepted, by the monotonic clock. */
  readonly atMs: number;
}

export interface SentMemoryOptions {
  /** Longer than a call, and than a standby may be behind. */
  readonly keepMs?: number;
  /** Some 900 bytes each. */
  readonly maximum?: number;
}

const KEEP_MS = 90 * SECOND;
const MAXIMUM = 20_000;

/**
 * What this process knows of its last calls, whether or not it is in the database: the promotion of a standby, or a restore, may take it
 * back from there. Nothing is forgotten while no call is made, however long the database is away.
 */
export class SentMemory {
  /** By message id, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #keepMs: number;
  readonly #maximum: number;

  constructor({ keepMs = KEEP_MS, maximum = MAXIMUM }: SentMemoryOptions = {}) {
    this.#keepMs = keepMs;
    this.#maximum = maximum;
  }

  /**
   * Records a claim.
   * @returns `known` if this attempt of the message was begun before, or the acceptance of the message: the database has lost them
   */
  claim(tenantId: number, { message_id: messageId, attempts }: Claimed): 'new' | 'known' | Acceptance {
    const entry = this.#entries.get(messageId);
    if (entry?.acceptance) return entry.acceptance;
    if (entry && entry.attempts >= attempts) return 'known';
    this.#set({ tenantId, messageId, attempts, atMs: performance.now() });
    return 'new';
  }

  /** Records that the network has accepted a message. */
  accept(attempts: number, acceptance: Acceptance): void {
    const { tenantId, messageId } = acceptance.status;
    this.#set({ tenantId, messageId, attempts, acceptance, atMs: performance.now() });
  }

  /** Call when the network has certainly not accepted a message. */
  forget(messageId: string): void {
    this.#entries.delete(messageId);
  }

  acceptances(): Acceptance[] {
    return [...this.#entries.values()].flatMap(({ acceptance }) => (acceptance ? [acceptance] : []));
  }

  /** Calls that were not answered. */
  inDoubt(): BegunCall[] {
    return [...this.#entries.values()].filter(({ acceptance }) => acceptance === undefined);
  }

  #set(entry: Entry): void {
    this.#entries.delete(entry.messageId);
    this.#entries.set(entry.messageId, entry);
    for (const [messageId, { atMs }] of this.#entries) {
      if (this.#entries.size <= this.#maximum && entry.atMs - atMs < this.#keepMs) return;
      this.#entries.delete(messageId);
    }
  }
}

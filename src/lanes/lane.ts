import type { RawBuilder } from 'kysely';
import type { Db } from '../database/database.ts';

/** Identifies one turn of a process on a lane: the lane, and the epoch of the claim. */
export interface LaneTurn {
  readonly queue: string;
  /** 0 for lanes of the whole deployment. */
  readonly tenantId: number;
  readonly key: string;
  /** Fencing token: grows with every claim. */
  readonly epoch: number;
}

/** A lane that this process drains. */
export interface Lane extends LaneTurn {
  /**
   * Whether the previous holder stopped without releasing the lane, in which case some of its network calls may be unresolved.
   */
  readonly isTakeover: boolean;
  /** Aborted when the process stops, when another process has claimed the lane, or when the lane is being rebalanced. */
  readonly signal: AbortSignal;
  /** Whether the process is stopping: an outcome that cannot be written now will not be written by this process. */
  readonly isStopping: boolean;
  /**
   * Whether the lease is valid by both clocks. Check immediately before writing the bytes of an external call, because an HTTP
   * client may have queued the call.
   */
  mayCall(): boolean;
  /** Waits for the renewal of an expired lease. @returns false if the turn is over */
  ready(): Promise<boolean>;
  /** Throws `LaneLost` unless the lane is still held. The last statement of a transaction: locks the lane's row until commit. */
  fence(trx: Db): Promise<void>;
  /** Whether the lane's time slice is over and other lanes wait for a slot. */
  isTurnOver(): boolean;
  /** Whether other lanes wait for a slot: an empty lane then ends its turn at once. */
  isSlotWanted(): boolean;
  /**
   * Whether the lane was woken since the last wait or the last call of `takeWakeUp`. What caused the wake-up is committed, so a read
   * after this call sees it.
   */
  takeWakeUp(): boolean;
  /**
   * Resolves to `true` when the lane is woken, to `false` after `ms` or when the turn must end.
   * @param cancelled ends the wait; an abandoned wait would consume the next wake-up
   */
  wait(ms: number, cancelled?: AbortSignal): Promise<boolean>;
  /** Like `wait`, for an empty lane: ends at once when another lane waits for a slot in this process. */
  linger(ms: number): Promise<boolean>;
}

/** Thrown by `fence`. */
export class LaneLost extends Error {
  override readonly name = 'LaneLost';
}

/**
 * Result of a turn. Undefined: the lane is empty, or its rows are due later, when the sweep finds them. `more`: the time slice is over
 * and work is left. `pauseMs`: no turn for this long, even if work is added to the lane.
 */
export type TurnEnd = 'more' | { readonly pauseMs: number; readonly error?: string } | undefined;

export type Drain = (lane: Lane) => Promise<TurnEnd>;

/** A queue whose lanes a process drains. */
export interface Queue {
  readonly name: string;
  /** Whether each lane belongs to a tenant; its key then begins with the tenant id. */
  readonly isPerTenant: boolean;
  /** Maximum number of lanes that this process drains concurrently. */
  readonly slots: number;
  readonly drain: Drain;
  /**
   * A query for `tenant_id` and `key` of lanes with due work, by the clock of the database. Part of the sweep: its cost may
   * depend on the number of lanes, never on the number of rows waiting in them.
   */
  readonly dueLanes: RawBuilder<unknown>;
}

/** Returns the tenant of a lane; 0 if the queue belongs to the deployment. */
export const tenantOfLane = (queue: Pick<Queue, 'isPerTenant'>, key: string): number =>
  queue.isPerTenant ? Number(key.split(':', 1)[0]) : 0;

export const laneName = (queue: string, key: string): string => `${queue}:${key}`;

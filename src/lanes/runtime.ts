import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Db } from '../database/database.ts';
import { readTimeline } from '../database/timeline.sql.ts';
import { type Clock, hasPassed, type Instant, instantOf, SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Signals, Urgency } from '../platform/signals.ts';
import { surplusLanes } from './balance.ts';
import { HeldLane } from './held-lane.ts';
import { LaneLost, laneName, type Queue, type TurnEnd } from './lane.ts';
import { LanePool } from './lane-pool.ts';
import { Promotion } from './promotion.ts';
import {
  claimLanes,
  deleteBehind,
  deleteProcess,
  findDueLanes,
  type ProcessLoad,
  type Release,
  type Renewal,
  releaseLanes,
  renewLanes,
} from './store/lanes.sql.ts';

/**
 * Lanes: ordered work under a key, by one process at a time (docs/lanes.md). A feature's table is the queue; the table `lanes`
 * records the holder, the lease and the epoch of each lane.
 */
export interface Lanes {
  /**
   * Requests that a lane be drained soon. Never throws and writes nothing; the sweep finds lost wake-ups.
   * @param urgency of the signal to other processes; default: soon
   */
  wake(queue: string, key: string, urgency?: Urgency): void;
  /**
   * The timeline of the WAL on which rows with an external effect may be claimed; null: any, because the server does not show it or no
   * lanes are drained; undefined: none for now, because a standby was promoted (`Promotion`).
   */
  readonly timeline: number | null | undefined;
  /** Call when a statement has found another timeline. */
  suspectPromotion(): void;
  /**
   * Starts draining lanes in this process.
   * @param onResumed awaited before lanes resume after this process could not reach the database or was suspended, and after a standby
   *   was promoted
   */
  start(queues: readonly Queue[], onResumed: Resume): Promise<void>;
  /** Claims no more lanes, lets running lanes finish their step (up to `timeoutMs`), and releases them. */
  stop(timeoutMs: number): Promise<void>;
}

/** @param timeline the new timeline of the WAL after a promotion; a pool of other connections may still lead to another server */
type Resume = (timeline: number | undefined) => Promise<void>;

export interface LanesOptions {
  /** A small pool used only for leases: renewals must not queue behind the work that they protect. */
  readonly db: Db;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  /** Lease duration: how long the lanes of a crashed process stay blocked. */
  readonly leaseMs: number;
}

const SWEEP_MS = SECOND;
/** Renewals per lease duration. */
const RENEWALS = 5;
/** Leases for which other processes are waited for after a promotion: they may find the new primary later. */
const PROMOTION_LEASES = 2;
/** Pause between renewals meanwhile. */
const PROMOTION_POLL_MS = SECOND / 2;

export function createLanes({ db, signals, clock, log, leaseMs }: LanesOptions): Lanes {
  const id = randomUUID();
  const pools = new Map<string, LanePool>();
  const stopping = new AbortController();
  const turns = new Set<Promise<void>>();
  const timers = new Set<NodeJS.Timeout>();
  const unsubscribes: (() => void)[] = [];
  let slots: Readonly<Record<string, number>> = {};
  let onResumed: Resume = async () => undefined;
  let releases: Release[] = [];
  /** Time of the last renewal that the database confirmed. */
  let renewedAt: Instant = instantOf(clock);
  let renewing: Promise<void> | undefined;
  let pumping: Promise<void> | undefined;
  let isPumpRequested = false;
  let isPublishing = false;
  let isClosed = false;
  let isRenewalPlanned = false;
  const promotionMs = PROMOTION_LEASES * leaseMs;
  const promotion = new Promotion(clock, promotionMs);

  const renewEveryMs = leaseMs / RENEWALS;
  const runningLanes = (): HeldLane[] => [...pools.values()].flatMap(pool => [...pool.running.values()]);
  /** Whether statuses may have arrived that could not be stored: no lane is claimed before `onResumed` has finished. */
  const hasStalled = (): boolean => hasPassed(clock, renewedAt, leaseMs);

  /** Notifies the other processes; this one already knows. */
  function publish(queue: string, key: string, urgency: Urgency = 'soon'): void {
    isPublishing = true;
    signals.send(laneName(queue, key), urgency);
    isPublishing = false;
  }

  function wake(queue: string, key: string, urgency?: Urgency): void {
    const pool = pools.get(queue);
    if (!pool || stopping.signal.aborted) {
      publish(queue, key, urgency);
      return;
    }
    pool.request(key, true);
    if (pool.running.has(key)) return;
    // Other processes may have a free slot.
    if (pool.isFull) publish(queue, key, urgency);
    pump();
  }

  /** Releases ended lanes and claims requested ones. Requests that arrive while a statement runs share the next one. */
  function pump(): void {
    isPumpRequested = true;
    pumping ??= (async () => {
      try {
        while (isPumpRequested) {
          // Wake-ups of the same event loop turn share one statement.
          await new Promise(resolve => setImmediate(resolve));
          isPumpRequested = false;
          await releaseEnded();
          await claimWanted();
        }
      } finally {
        // Synchronous with the last check of `isPumpRequested`, so that no request is lost in between.
        pumping = undefined;
      }
    })();
  }

  async function releaseEnded(): Promise<void> {
    if (releases.length === 0) return;
    const ended = releases;
    releases = [];
    try {
      await releaseLanes(db, ended);
    } catch (error) {
      log.warn(
        { err: error, lanes: ended.length },
        'lanes could not be released; they are free again when their leases expire',
      );
    }
  }

  async function claimWanted(): Promise<void> {
    if (stopping.signal.aborted) return;
    if (hasStalled()) {
      void renew();
      return;
    }
    const wanted = [...pools.values()].flatMap(pool => pool.dequeue());
    if (wanted.length === 0) return;
    const at = instantOf(clock);
    try {
      const taken = await claimLanes(db, id, wanted, leaseMs);
      for (const lane of taken) begin(new HeldLane(lane, at, stopping.signal, hostOf(lane.queue)));
      const claimedNames = new Set(taken.map(lane => laneName(lane.queue, lane.key)));
      for (const { queue, key, isLocal } of wanted)
        if (isLocal && !claimedNames.has(laneName(queue, key))) publish(queue, key);
    } catch (error) {
      log.warn({ err: error, lanes: wanted.length }, 'lanes could not be claimed; the next sweep retries');
    }
  }

  const hostOf = (queue: string) => ({
    clock,
    leaseMs,
    isSlotWanted: () => (pools.get(queue)?.waitingCount ?? 0) > 0,
    renewSoon: () => void renew(),
  });

  function begin(lane: HeldLane): void {
    const pool = pools.get(lane.queue);
    if (!pool) return;
    pool.begin(lane);
    const turn = runTurn(pool, lane).finally(() => turns.delete(turn));
    turns.add(turn);
  }

  async function runTurn(pool: LanePool, lane: HeldLane): Promise<void> {
    const { queue, tenantId, key, epoch } = lane;
    let end: TurnEnd;
    let failure: string | undefined;
    try {
      end = await pool.queue.drain(lane);
    } catch (error) {
      if (error instanceof LaneLost) log.warn({ lane: laneName(queue, key) }, error.message);
      else {
        log.error(
          { err: error, lane: laneName(queue, key) },
          'a lane stopped on an error; it is retried after a pause',
        );
        failure = error instanceof Error ? error.message : String(error);
      }
    }
    pool.running.delete(key);
    const pause = typeof end === 'object' ? end : undefined;
    releases.push({
      queue,
      tenantId,
      key,
      epoch,
      pauseMs: pause?.pauseMs,
      error: failure ?? pause?.error,
      isFailure: failure !== undefined,
    });
    if (lane.isHandedOver && !lane.isLost) {
      pool.startCoolDown(key);
      await pumpAndWait();
      publish(queue, key);
    } else if (!failure && (end === 'more' || (lane.hasWakeUp && !pause))) pool.request(key, true);
    pump();
  }

  async function pumpAndWait(): Promise<void> {
    pump();
    await pumping;
  }

  /** Renews all leases in one statement and reads the load of other processes. Never rejects. */
  function renew(): Promise<void> {
    renewing ??= renewAll()
      .catch(error => log.warn({ err: error }, 'leases could not be renewed; retrying'))
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  }

  async function renewAll(): Promise<void> {
    const at = instantOf(clock);
    const hadStalled = hasStalled();
    const { unwritten } = promotion;
    if (hadStalled || unwritten !== undefined) await onResumed(unwritten);
    if (unwritten !== undefined) promotion.wrote(unwritten);
    const lanes = runningLanes();
    const renewal = await renewLanes(
      db,
      { id, name: `${hostname()}:${process.pid}`, slots, timeline: promotion.written },
      lanes,
      leaseMs,
    );
    renewedAt = at;
    for (const lane of lanes) {
      if (renewal.epochs.has(lane.epoch)) lane.renewed(at);
      else lane.lose();
    }
    if (hadStalled) pump();
    handOverSurplus(renewal.processes);
    await followPromotion(renewal);
  }

  async function followPromotion(renewal: Renewal): Promise<void> {
    const change = promotion.renewed(renewal);
    const { timeline } = renewal;
    if (change === 'found')
      log.warn(
        { timeline },
        'a standby of the database was promoted: nothing is sent before each process has written again what it knows of its last sends',
      );
    if (change === 'abandoned' && timeline !== null) {
      log.warn(
        { timeline },
        'a process has not returned since a standby of the database was promoted: what it sent last may be sent again',
      );
      await deleteBehind(db, timeline, promotionMs);
    }
    if (promotion.timeline === undefined) renewAfter(promotion.unwritten === undefined ? PROMOTION_POLL_MS : 0);
  }

  /** Renews earlier than usual. */
  function renewAfter(ms: number): void {
    if (isRenewalPlanned || isClosed) return;
    isRenewalPlanned = true;
    const timer = setTimeout(() => {
      timers.delete(timer);
      isRenewalPlanned = false;
      void renew();
    }, ms);
    timers.add(timer);
  }

  function handOverSurplus(processes: readonly ProcessLoad[]): void {
    for (const [name, pool] of pools) {
      const busy = pool.busy.filter(lane => lane.ageMs >= SWEEP_MS);
      for (const lane of busy.slice(0, surplusLanes(name, busy.length, processes))) lane.handOver();
    }
  }

  async function sweep(): Promise<void> {
    const queues = [...pools.values()].map(({ queue }) => queue);
    for (const { queue, key } of await findDueLanes(db, id, queues)) pools.get(queue)?.request(key, false);
    pump();
  }

  /** Repeats a task; the interval begins when the last run has ended. */
  function every(ms: number, work: () => Promise<void>): void {
    const timer = setTimeout(async () => {
      timers.delete(timer);
      await work();
      if (!isClosed) every(ms, work);
    }, ms);
    timers.add(timer);
  }

  return {
    wake,

    get timeline() {
      return promotion.timeline;
    },

    suspectPromotion() {
      promotion.suspect();
      renewAfter(0);
    },

    async start(queues, resume) {
      onResumed = resume;
      promotion.start(await readTimeline(db));
      for (const queue of queues) pools.set(queue.name, new LanePool(queue));
      slots = Object.fromEntries(queues.map(queue => [queue.name, queue.slots]));
      for (const { name } of queues) {
        unsubscribes.push(
          signals.on(name, topic => {
            if (isPublishing || stopping.signal.aborted) return;
            pools.get(name)?.request(topic.slice(name.length + 1), false);
            pump();
          }),
        );
      }
      renewedAt = instantOf(clock);
      await renew();
      every(renewEveryMs, renew);
      const sweepOrWarn = () =>
        sweep().catch(error => log.warn({ err: error }, 'the sweep for lanes with due work failed; retrying'));
      await sweepOrWarn();
      every(SWEEP_MS, async () => {
        if (!stopping.signal.aborted) await sweepOrWarn();
      });
    },

    async stop(timeoutMs) {
      stopping.abort();
      for (const unsubscribe of unsubscribes) unsubscribe();
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>(resolve => {
        timer = setTimeout(resolve, timeoutMs);
      });
      // Turns that exceed the timeout keep their leases: no other process may begin before they have expired.
      await Promise.race([timeout, Promise.all(turns)]);
      clearTimeout(timer);
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      await renewing;
      await pumpAndWait();
      if (pools.size > 0)
        await deleteProcess(db, id).catch(error =>
          log.debug(
            { err: error },
            'the heartbeat of this process could not be deleted; other processes ignore it when it expires',
          ),
        );
    },
  };
}

import type { Config } from '../config.ts';
import type { PriceTable } from '../core/price-table.ts';
import type { Principal } from '../core/principal.ts';
import type { TokenVerifier } from '../core/token-verifier.ts';
import type { Database } from '../database/database.ts';
import type { SessionLocks } from '../database/session-locks.ts';
import type { EventBus } from '../events/bus.ts';
import type { Cursor } from '../events/cursor.ts';
import type { Horizon } from '../events/horizon.ts';
import type { Lanes } from '../lanes/runtime.ts';
import type { Network } from '../network/network.ts';
import type { Clock } from '../platform/clock.ts';
import type { SecretBox } from '../platform/crypto.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import type { KeyedBatches } from '../platform/keyed-batches.ts';
import type { KeyedSemaphore } from '../platform/keyed-semaphore.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { PublicHttp } from '../platform/public-http.ts';
import type { RateLimits } from '../platform/rate-limits.ts';
import type { Signals } from '../platform/signals.ts';
import type { TextCache } from '../platform/text-cache.ts';
import type { Loaders } from './loaders.ts';

/** Resources of a process: created once in serve.ts and passed as the first argument. */
export interface Resources {
  readonly config: Config;
  readonly db: Database;
  readonly lanes: Pick<Lanes, 'wake'>;
  readonly signals: Signals;
  /** Tells which requests with an idempotency key are still running. */
  readonly sessionLocks: SessionLocks;
  readonly horizon: Horizon;
  /** Generation of the event log, part of each cursor; restoring a backup starts a new one. */
  readonly logGeneration: number;
  readonly bus: EventBus;
  readonly network: Network;
  /** HTTP client for URLs configured by tenants. */
  readonly publicHttp: PublicHttp;
  /** The files that this deployment keeps. */
  readonly files: FileStore;
  /** Prices of messages; undefined if the deployment states none. */
  readonly prices: PriceTable | undefined;
  readonly limits: RateLimits;
  /** Batches concurrent sends of a tenant. */
  readonly sendBatches: { readonly reads: KeyedBatches; readonly writes: KeyedBatches };
  /** Queues sends that would wait for the same lock. */
  readonly sendSemaphore: KeyedSemaphore;
  /** Limits the files of a tenant that are passed on to the network at once: a slow one holds a connection for half an hour. */
  readonly uploadSemaphore: KeyedSemaphore;
  readonly tokens: TokenVerifier;
  /** Documents of automatic persisted queries. */
  readonly texts: TextCache;
  readonly secrets: SecretBox;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
}

/** The context of one operation. */
export interface Context extends Resources {
  readonly principal: Principal | undefined;
  readonly requestId: string;
  /** Position of the event log when the request arrived: a subscription that starts there receives all later events. */
  readonly eventPosition: Cursor;
  /** Cursor from the `connection_init` of a WebSocket; see `follow`. */
  readonly resumeAfter?: string | undefined;
  readonly loaders: Loaders;
  /** The operation only looks for faults of its input: it changes nothing. */
  readonly isRehearsal: boolean;
  /** Creates a context of the same caller in which work changes nothing. */
  rehearsal(): Context;
  /** Set when the idempotency key of the operation was used before: its stored result is returned. */
  readonly replay: Replay;
}

export interface Replay {
  /** Set by REST, which repeats the first response verbatim and waits until it is stored. */
  readonly wantsAnswer: boolean;
  replayed: boolean;
  /** Set when the first request with the key has yet to store its response. */
  isRunning?: boolean;
  /** The stored REST response, if there is one. */
  answer?: unknown;
  /** The idempotency key of this request, under which REST stores its response. */
  key?: string;
  /** Marks the request under `key` as finished; REST calls it once its response is stored. */
  end?: () => void;
}

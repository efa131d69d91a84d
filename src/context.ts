import type { Config } from './config.ts';
import type { EventBus } from './features/events/bus.ts';
import type { Loaders } from './features/loaders.ts';
import type { Feature } from './features/tenants/feature.ts';
import type { TokenVerifier } from './features/tokens/verifier.ts';
import type { Network } from './network/network.ts';
import type { Clock } from './platform/clock.ts';
import type { SecretBox } from './platform/crypto.ts';
import type { Database } from './platform/database.ts';
import type { Jobs } from './platform/jobs.ts';
import type { Log } from './platform/log.ts';
import type { Metrics } from './platform/metrics.ts';
import type { PublicHttp } from './platform/public-http.ts';
import type { RateLimits } from './platform/rate-limits.ts';
import type { Signals } from './platform/signals.ts';

/** What a process owns: made once in serve.ts, handed to everything as its first argument. */
export interface Resources {
  readonly config: Config;
  readonly db: Database;
  readonly jobs: Pick<Jobs, 'wake'>;
  readonly signals: Signals;
  readonly bus: EventBus;
  readonly network: Network;
  /** For addresses that tenants have named. */
  readonly publicHttp: PublicHttp;
  readonly limits: RateLimits;
  readonly tokens: TokenVerifier;
  readonly secrets: SecretBox;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
}

export interface Tenant {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly planName: string;
  /** What the plan includes; see `requireFeature`. */
  readonly features: ReadonlySet<Feature>;
  readonly callsPerMinute: number;
  readonly windowPolicy: 'network' | 'refuse';
  readonly defaultSourceId: number | null;
  readonly defaultStatusId: number | null;
}

/** Who calls: a token and its tenant. */
export interface Principal {
  readonly tenant: Tenant;
  readonly tokenId: number;
  readonly tokenName: string;
  readonly scopes: ReadonlySet<string>;
  readonly callsPerMinute: number;
  /** Milliseconds since the epoch; undefined: never. */
  readonly expiresAtMs: number | undefined;
}

/** What one operation is executed with. */
export interface Context extends Resources {
  readonly principal: Principal | undefined;
  readonly requestId: string;
  readonly loaders: Loaders;
  /** Filled when an idempotency key was found done: the operation only repeats its answer. */
  readonly replay: Replay;
}

export interface Replay {
  /** REST repeats an answer word for word, and so has to wait until there is one. */
  readonly wantsAnswer: boolean;
  replayed: boolean;
  /** The REST answer as it was given, where one was. */
  answer?: unknown;
  /** The key under which this request did its work, and to which REST adds its answer. */
  key?: string;
}

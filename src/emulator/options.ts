import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { FaultsPatch } from './faults.ts';
import type { TemplateSeed } from './template-store.ts';

/** A business number. `accessToken` grants access to it and its business account. */
export interface EmulatorNumber {
  readonly phoneNumberId: string;
  readonly wabaId: string;
  /** Formatted, for example `+1 555 078 3881`. Its country code is prepended to recipients without a plus. */
  readonly displayPhoneNumber: string;
  readonly verifiedName: string;
  readonly accessToken: string;
  /** Messages per second above which 130429 is returned; default 80, as on the network. */
  readonly messagesPerSecond?: number;
  /** Business portfolio that owns the account; default `DEFAULT_PORTFOLIO`. User ids are unique within one. */
  readonly portfolioId?: string;
  readonly health?: EmulatedHealth;
}

/** Health that the number reports; default: good. */
export interface EmulatedHealth {
  readonly canSend?: 'AVAILABLE' | 'LIMITED' | 'BLOCKED' | undefined;
  readonly quality?: 'GREEN' | 'YELLOW' | 'RED' | 'UNKNOWN' | undefined;
  /** `TIER_2K`, …; default `TIER_UNLIMITED`. */
  readonly messagingLimit?: string | undefined;
}

export const DEFAULT_PORTFOLIO = '4000000000000001';

export const portfolioOf = ({ portfolioId }: EmulatorNumber): string => portfolioId ?? DEFAULT_PORTFOLIO;

/** Delays of statuses after a message was accepted, and of a template's review after its creation; milliseconds. */
export interface Delays {
  readonly sentMs: number;
  readonly deliveredMs: number;
  readonly readMs: number;
  readonly templateReviewMs: number;
}

export const DEFAULT_DELAYS: Delays = { sentMs: 20, deliveredMs: 100, readMs: 300, templateReviewMs: 1_000 };

export interface EmulatorOptions {
  /** Address to listen on; default `127.0.0.1`. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** URL to which webhooks are posted. Without one they are kept. */
  readonly webhookUrl?: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly numbers: readonly EmulatorNumber[];
  /** Initial templates; default: `hello_world` for each business account. */
  readonly templates?: readonly TemplateSeed[];
  /** Path of the journal, which survives `kill -9`. Default: state is in memory only. */
  readonly journal?: string;
  readonly clock?: Clock;
  readonly log: Log;
  readonly delays?: Partial<Delays>;
  /** Initial faults and traits, which `DELETE faults` restores. */
  readonly faults?: FaultsPatch;
}

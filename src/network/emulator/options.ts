import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { FaultsPatch } from './faults.ts';
import type { TemplateSeed } from './template-store.ts';

/** A business number as the network knows it. Whoever holds `accessToken` may use it and its business account. */
export interface EmulatorNumber {
  readonly phoneNumberId: string;
  readonly wabaId: string;
  /** As people write it, `+1 555 078 3881`: its country code is put before numbers that are sent to without a plus. */
  readonly displayPhoneNumber: string;
  readonly verifiedName: string;
  readonly accessToken: string;
  /** Throughput above which 130429 is answered; 80 unless told, like a number of the network. */
  readonly messagesPerSecond?: number;
}

/** How long after a message was taken its statuses are posted, and after a template was created its review ends; milliseconds. */
export interface Delays {
  readonly sentMs: number;
  readonly deliveredMs: number;
  readonly readMs: number;
  readonly templateReviewMs: number;
}

export const DEFAULT_DELAYS: Delays = { sentMs: 20, deliveredMs: 100, readMs: 300, templateReviewMs: 1_000 };

export interface EmulatorOptions {
  /** Address to listen on, `127.0.0.1` unless told. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Where webhooks are posted. Until there is one, they are kept. */
  readonly webhookUrl?: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly numbers: readonly EmulatorNumber[];
  /** Templates there from the start; `hello_world` for each business account unless told. */
  readonly templates?: readonly TemplateSeed[];
  /** Path of the file in which everything that must survive `kill -9` is kept. Without one it is in memory only. */
  readonly journal?: string;
  readonly clock?: Clock;
  readonly log: Log;
  readonly delays?: Partial<Delays>;
  /** Faults and traits that are on from the start; `DELETE faults` comes back to these. */
  readonly faults?: FaultsPatch;
}

import type { Clock } from '../platform/clock.ts';
import type { JsonObject } from '../platform/json.ts';
import type { Log } from '../platform/log.ts';
import type { FaultControl } from './faults.ts';
import type { JournalEvent } from './journal.ts';
import type { MediaStore } from './media-store.ts';
import type { Delays, EmulatorNumber } from './options.ts';
import type { Outbox } from './outbox.ts';
import type { People } from './people.ts';
import type { Phones } from './phones.ts';
import type { RateLimit } from './rate-limits.ts';
import type { SentLog } from './sent-log.ts';
import type { TemplateStore } from './template-store.ts';
import type { Windows } from './windows.ts';

/** Webhook subscription of a business account. */
export interface Subscription {
  /** False after `DELETE subscribed_apps`: updates are lost, as on the network. */
  subscribed: boolean;
  /** `override_callback_uri`. */
  override: string | undefined;
}

/** The state of the emulated network: the first argument of every handler. */
export interface World {
  readonly verifyToken: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly delays: Delays;
  readonly numbers: Map<string, EmulatorNumber>;
  readonly subscriptions: Map<string, Subscription>;
  readonly faults: FaultControl;
  readonly windows: Windows;
  readonly people: People;
  readonly phones: Phones;
  readonly sent: SentLog;
  readonly received: ReceivedLog;
  readonly templates: TemplateStore;
  readonly media: MediaStore;
  readonly pairs: RateLimit;
  readonly throughput: RateLimit;
  readonly outbox: Outbox;
  webhookUrl: string | undefined;
  /** Base URL of the listener. */
  origin: string;
  nextSeq(): number;
  /** Appends an event to the journal; call it before any consequence is visible outside. */
  record(event: JournalEvent): void;
}

/** Inbound messages by wamid, which can be marked as read. `message` is what the webhook reports. */
export type ReceivedLog = Map<
  string,
  {
    readonly from: string;
    readonly phoneNumberId: string;
    readonly type: string;
    readonly at: number;
    readonly seq: number;
    readonly message: JsonObject;
    read: boolean;
  }
>;

/** The numbers of a business account. */
export function numbersOf(world: World, wabaId: string): EmulatorNumber[] {
  return [...world.numbers.values()].filter(number => number.wabaId === wabaId);
}

export function subscriptionOf(world: World, wabaId: string): Subscription {
  const existing = world.subscriptions.get(wabaId);
  if (existing) return existing;
  const fresh: Subscription = { subscribed: true, override: undefined };
  world.subscriptions.set(wabaId, fresh);
  return fresh;
}

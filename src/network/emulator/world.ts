import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { FaultBox } from './faults.ts';
import type { JournalEvent } from './journal.ts';
import type { MediaStore } from './media-store.ts';
import type { Delays, EmulatorNumber } from './options.ts';
import type { Outbox } from './outbox.ts';
import type { People } from './people.ts';
import type { RateLimit } from './rate-limits.ts';
import type { SentLog } from './sent-log.ts';
import type { TemplateStore } from './template-store.ts';
import type { Windows } from './windows.ts';

/** Where the webhooks of a business account go. */
export interface Subscription {
  /** False once the app was taken off (`DELETE subscribed_apps`): its updates are lost, as on the network. */
  subscribed: boolean;
  /** `override_callback_uri`. */
  override: string | undefined;
}

/** Everything the emulated network consists of: the first argument of every handler. */
export interface World {
  readonly verifyToken: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly delays: Delays;
  readonly numbers: Map<string, EmulatorNumber>;
  readonly subscriptions: Map<string, Subscription>;
  readonly faults: FaultBox;
  readonly windows: Windows;
  readonly people: People;
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
  /** Writes an event down; before anything that follows from it can be seen outside. */
  record(event: JournalEvent): void;
}

/** Messages that people wrote, by wamid: what may be marked as read. */
export type ReceivedLog = Map<
  string,
  { readonly from: string; readonly type: string; readonly at: number; read: boolean }
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

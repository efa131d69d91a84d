import type { AddressInfo } from 'node:net';
import { systemClock } from '../platform/clock.ts';
import { UserError } from '../platform/user-error.ts';
import { setWebhookUrl } from './control.ts';
import { createFaultControl, type Faults, type FaultsPatch, faultsPatch } from './faults.ts';
import { receive } from './inbound.ts';
import { type InboundInput, inboundInput } from './inbound-input.ts';
import { type Journal, NO_JOURNAL, openJournal, readJournal } from './journal.ts';
import { createMediaStore } from './media-store.ts';
import { DEFAULT_DELAYS, type EmulatorOptions } from './options.ts';
import { createOutbox, type OutboxCounts } from './outbox.ts';
import { createPeople } from './people.ts';
import { createPhones } from './phones.ts';
import { createPairLimit, createThroughputLimit } from './rate-limits.ts';
import { replay } from './replay.ts';
import { createSentLog, type SentQuery, type SentReport } from './sent-log.ts';
import { createListener } from './server.ts';
import { createTemplateStore, HELLO_WORLD, seedTemplate } from './template-store.ts';
import { review } from './templates.ts';
import { type Update, wabaOf } from './update.ts';
import { webhookBody } from './webhook-body.ts';
import { createWindows } from './windows.ts';
import { subscriptionOf, type World } from './world.ts';

export interface Emulator {
  /** `http://host:port`, without trailing slash: the base URL for clients, with the control API under `/_emulator/`. */
  readonly url: string;
  setWebhookUrl(url: string | undefined): void;
  faults(): Readonly<Faults>;
  /** Merges a patch into the current faults and traits. Throws a ZodError if it is invalid. */
  setFaults(patch: FaultsPatch): void;
  resetFaults(): void;
  /** Sends a message from a person to a number (default: the first). @returns the wamid */
  inbound(input: InboundInput): string;
  sent(query?: SentQuery): SentReport;
  webhooks(): OutboxCounts;
  /** Resolves when all pending webhook updates have been acknowledged or dropped. */
  settled(): Promise<void>;
  /** Closes the listener and every connection; pending webhooks stay in the journal. */
  stop(): Promise<void>;
}

/** A journal larger than this is compacted at start. */
const COMPACT_ABOVE_BYTES = 8 * 1024 * 1024;

/**
 * Starts an emulated Cloud API for development and tests, whose recipients read their messages.
 *
 * @throws UserError if the address is not available or the journal is corrupt
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const clock = options.clock ?? systemClock;
  const numbers = new Map(options.numbers.map(number => [number.phoneNumberId, number]));
  const templates = createTemplateStore();
  const wabaIds = [...new Set(options.numbers.map(number => number.wabaId))];
  let seq = 0;
  let journal: Journal = NO_JOURNAL;

  const world: World = {
    verifyToken: options.verifyToken,
    clock,
    log: options.log,
    delays: { ...DEFAULT_DELAYS, ...options.delays },
    numbers,
    subscriptions: new Map(),
    faults: createFaultControl(options.faults),
    windows: createWindows(clock),
    people: createPeople(),
    phones: createPhones(),
    sent: createSentLog(),
    received: new Map(),
    templates,
    media: createMediaStore(clock),
    pairs: createPairLimit(clock),
    throughput: createThroughputLimit(clock, id => numbers.get(id)?.messagesPerSecond ?? 80),
    outbox: createOutbox({
      appSecret: options.appSecret,
      log: options.log,
      target: update => targetOf(world, update),
      body: updates => webhookBody(updates, bodyOptions(world)),
      batchMax: () => (world.faults.current.batch === 'single' ? 1 : 1_000),
      connections: () => world.faults.current.webhookConnections,
      repeats: () => Math.random() < world.faults.current.duplicate,
      done: (updates, lost) => acknowledge(world, updates, lost),
    }),
    webhookUrl: undefined,
    origin: '',
    nextSeq: () => ++seq,
    record: event => journal.append(event),
  };

  const journalContent = options.journal === undefined ? { events: [], bytes: 0 } : readJournal(options.journal);
  const replayed = replay(world, journalContent.events);
  seq = replayed.lastSeq;
  if (options.journal !== undefined) {
    journal = openJournal(options.journal, journalContent.bytes > COMPACT_ABOVE_BYTES ? replayed.compacted : undefined);
  }
  for (const seed of options.templates ?? [HELLO_WORLD]) {
    for (const wabaId of seed.wabaId === undefined ? wabaIds : [seed.wabaId]) {
      if (templates.find(wabaId, seed.name, seed.language)) continue;
      const template = seedTemplate(seed, wabaId);
      templates.put(template);
      world.record({ e: 'template', t: template });
    }
  }
  if (options.webhookUrl !== undefined) world.webhookUrl = options.webhookUrl;

  const server = createListener(world);
  await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  world.origin = originOf(server.address() as AddressInfo);
  for (const update of replayed.pending) world.outbox.add(update, 0);
  for (const template of templates.all()) if (template.status === 'PENDING') review(world, template.id);

  return {
    url: world.origin,
    setWebhookUrl: url => setWebhookUrl(world, url),
    faults: () => world.faults.current,
    setFaults: patch => world.faults.merge(faultsPatch.parse(patch)),
    resetFaults: () => world.faults.reset(),
    inbound(input) {
      const checked = inboundInput.parse(input);
      const number =
        checked.phoneNumberId === undefined ? numbers.values().next().value : numbers.get(checked.phoneNumberId);
      if (!number) throw new Error(`The emulator has no number ${checked.phoneNumberId ?? ''}.`);
      return receive(world, number, checked);
    },
    sent: (query = {}) => world.sent.report(query),
    webhooks: () => world.outbox.counts(),
    settled: () => world.outbox.settled(),
    async stop() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await world.outbox.stop();
      await world.media.close();
      journal.close();
      journal = NO_JOURNAL;
    },
  };
}

/** The webhook URL of an account, or the general one; null if the account has unsubscribed the app. */
function targetOf(world: World, update: Update): string | null | undefined {
  const { subscribed, override } = subscriptionOf(world, wabaOf(update));
  return subscribed ? (override ?? world.webhookUrl) : null;
}

function bodyOptions(world: World) {
  const { current } = world.faults;
  return {
    grouping: current.batch,
    escape: current.escape,
    userIds: current.userIds,
    number: (id: string) => world.numbers.get(id),
  };
}

function acknowledge(world: World, updates: readonly Update[], lost: boolean): void {
  world.record({ e: 'done', seqs: updates.map(update => update.seq), ...(lost && { lost }) });
  if (lost) return;
  for (const update of updates) if (update.kind === 'status') world.sent.addStatus(update.message.wamid, update.status);
}

function listen(server: ReturnType<typeof createListener>, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new UserError(`The emulator cannot listen on ${host}:${port}: ${cause.code ?? cause.message}.`, { cause }),
      );
    });
    server.listen(port, host, resolve);
  });
}

function originOf({ address, port, family }: AddressInfo): string {
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${family === 'IPv6' && host !== '127.0.0.1' ? `[${host}]` : host}:${port}`;
}

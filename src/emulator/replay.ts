import type { JournalEvent, PlannedStatus } from './journal.ts';
import { portfolioOf } from './options.ts';
import { statusUpdate } from './statuses.ts';
import type { AcceptedMessage, StatusWord, Update } from './update.ts';
import type { World } from './world.ts';

/** The folded journal: the state of the network and the unacknowledged updates. */
export interface Replayed {
  readonly pending: readonly Update[];
  /** The shortest equivalent journal. */
  readonly compacted: readonly JournalEvent[];
  readonly lastSeq: number;
}

interface Taken {
  readonly m: AcceptedMessage;
  readonly plan: readonly PlannedStatus[];
  readonly acknowledged: readonly StatusWord[];
  readonly cleared: boolean;
}

/** Applies the events of a journal to an empty world. Does not deliver: `pending` is for the outbox. */
export function replay(world: Omit<World, 'outbox' | 'record' | 'nextSeq'>, events: readonly JournalEvent[]): Replayed {
  const done = new Set<number>();
  for (const event of events) if (event.e === 'done') for (const seq of event.seqs) done.add(seq);

  const pending: Update[] = [];
  const compacted: JournalEvent[] = [];
  let taken: Taken[] = [];
  let lastSeq = 0;
  const see = (seq: number) => {
    lastSeq = Math.max(lastSeq, seq);
  };

  for (const event of events) {
    switch (event.e) {
      case 'taken': {
        see(event.m.seq);
        for (const planned of event.plan) see(planned[0]);
        const open = event.plan.filter(([seq]) => !done.has(seq));
        const acknowledged = [
          ...(event.told ?? []),
          ...event.plan.filter(([seq]) => done.has(seq)).map(([, status]) => status),
        ];
        pending.push(...open.map(planned => statusUpdate(event.m, planned)));
        taken.push({ m: event.m, plan: open, acknowledged, cleared: event.cleared === true });
        break;
      }
      case 'arrived': {
        const entry = taken.find(({ m }) => m.wamid === event.wamid);
        for (const planned of event.plan) see(planned[0]);
        if (!entry) break;
        const open = event.plan.filter(([seq]) => !done.has(seq));
        const acknowledged = event.plan.filter(([seq]) => done.has(seq)).map(([, status]) => status);
        const m = { ...entry.m, held: undefined };
        pending.push(...open.map(planned => statusUpdate(m, planned)));
        taken[taken.indexOf(entry)] = {
          ...entry,
          m,
          plan: [...entry.plan, ...open],
          acknowledged: [...entry.acknowledged, ...acknowledged],
        };
        break;
      }
      case 'phone':
        world.phones.apply(event.p);
        break;
      case 'sent-cleared':
        // Pending statuses are still posted; only the log entry is removed.
        taken = taken.filter(entry => entry.plan.length > 0).map(entry => ({ ...entry, cleared: true }));
        break;
      case 'inbound': {
        see(event.u.seq);
        const acknowledged = event.told === true || done.has(event.u.seq);
        if (!acknowledged) pending.push(event.u);
        remember(world, event.u, event.at);
        compacted.push({ e: 'inbound', u: event.u, at: event.at, ...(acknowledged && { told: true }) });
        break;
      }
      case 'change':
        see(event.u.seq);
        if (done.has(event.u.seq)) break;
        pending.push(event.u);
        compacted.push(event);
        break;
      case 'window':
        world.windows.set(event.key, event.until);
        break;
      case 'template':
        world.templates.put(event.t);
        break;
      case 'template-gone':
        world.templates.remove(event.id);
        break;
      case 'webhook-url':
        world.webhookUrl = event.url;
        break;
      case 'number':
        world.numbers.set(event.n.phoneNumberId, event.n);
        compacted.push(event);
        break;
      case 'done':
        break;
      default:
        event satisfies never;
    }
  }

  for (const { m, plan, acknowledged, cleared } of taken) {
    if (!cleared) world.sent.add(m, acknowledged);
    compacted.push({
      e: 'taken',
      m,
      plan,
      ...(acknowledged.length > 0 && { told: acknowledged }),
      ...(cleared && { cleared }),
    });
  }
  for (const [key, until] of world.windows.entries())
    if (until > world.clock.now()) compacted.push({ e: 'window', key, until });
  for (const p of world.phones.changes()) compacted.push({ e: 'phone', p });
  for (const template of world.templates.all()) compacted.push({ e: 'template', t: template });
  if (world.webhookUrl !== undefined) compacted.push({ e: 'webhook-url', url: world.webhookUrl });
  return { pending, compacted, lastSeq };
}

function remember(
  world: Pick<World, 'received' | 'people' | 'numbers'>,
  update: Update & { kind: 'message' },
  at: number,
): void {
  const { id, from, from_user_id: userId, type } = update.message;
  const number = world.numbers.get(update.phoneNumberId);
  if (number && typeof from === 'string' && typeof userId === 'string')
    world.people.introduce(from, userId, portfolioOf(number));
  const person = typeof from === 'string' ? from : String(userId);
  const { phoneNumberId, seq, message } = update;
  world.received.set(String(id), { from: person, phoneNumberId, type: String(type), at, seq, message, read: false });
}

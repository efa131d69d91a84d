import { append } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { phoneOf } from './contact.ts';
import {
  defaultsOf,
  findSenders,
  insertSenders,
  type KnownSender,
  learnIdentities,
  type NewSender,
} from './recognise-store.ts';

/** A person as the network shows them; any of the ids may be missing. */
export interface Sender {
  /** Business-scoped user id. */
  readonly userId: string | undefined;
  /** The network's digits. */
  readonly waId: string | undefined;
  readonly phoneKey: string | undefined;
  readonly profileName: string | undefined;
}

/**
 * The contacts that people are: matched by user id, then by the network's spelling of the number, then by the number with
 * its national variants (cloud-api §11). Who is not known becomes a contact; a person who writes is never turned away,
 * so the plan's limit does not stop that (it does stop the next creation by the tenant).
 *
 * @returns contact ids in the order of the senders
 */
export async function recogniseContacts(
  trx: Db,
  tenantId: number,
  senders: readonly Sender[],
): Promise<(number | undefined)[]> {
  let known = index(await findSenders(trx, tenantId, senders));
  const strangers = unique(senders.filter(sender => match(known, sender) === undefined));
  if (strangers.length > 0) {
    const defaults = await defaultsOf(trx, tenantId);
    const created = await insertSenders(
      trx,
      tenantId,
      strangers.map(sender => ({ ...newSender(sender), ...defaults })),
    );
    await append(
      trx,
      tenantId,
      created.map(contact => ({ type: 'contact.created', payload: { contact } })),
    );
    // Whoever was made by another transaction at the same time was left out of ours, and is there now.
    known = index(await findSenders(trx, tenantId, senders));
  }
  const learned = senders.flatMap(sender => {
    const row = match(known, sender);
    return row && teaches(sender, row)
      ? [{ id: row.id, userId: sender.userId ?? null, waId: sender.waId ?? null, ...numberOf(sender) }]
      : [];
  });
  if (learned.length > 0) {
    const numbered = await learnIdentities(trx, tenantId, learned);
    await append(
      trx,
      tenantId,
      numbered.map(contact => ({ type: 'contact.updated', payload: { contact, previous: { phone: null } } })),
    );
  }
  return senders.map(sender => match(known, sender)?.id);
}

interface Index {
  readonly byUser: Map<string, KnownSender>;
  readonly byWaId: Map<string, KnownSender>;
  readonly byPhone: Map<string, KnownSender>;
}

function index(rows: readonly KnownSender[]): Index {
  const by = (key: 'network_user_id' | 'wa_id' | 'phone_key') =>
    new Map(rows.flatMap(row => (row[key] === null ? [] : [[row[key], row] as const])));
  return { byUser: by('network_user_id'), byWaId: by('wa_id'), byPhone: by('phone_key') };
}

const match = (known: Index, { userId, waId, phoneKey }: Sender): KnownSender | undefined =>
  (userId !== undefined ? known.byUser.get(userId) : undefined) ??
  (waId !== undefined ? known.byWaId.get(waId) : undefined) ??
  (phoneKey !== undefined ? known.byPhone.get(phoneKey) : undefined);

const teaches = (sender: Sender, row: KnownSender): boolean =>
  (sender.userId !== undefined && row.network_user_id === null) ||
  (sender.waId !== undefined && (row.wa_id !== sender.waId || row.phone_key === null));

/** One of each person, however many messages they wrote. */
function unique(senders: readonly Sender[]): Sender[] {
  const seen = new Map<string, Sender>();
  for (const sender of senders) {
    const key = sender.phoneKey ?? sender.userId ?? '';
    if (!seen.has(key)) seen.set(key, sender);
  }
  return [...seen.values()];
}

/** What of a profile name can be stored, cut between characters: half a surrogate pair would spoil the whole batch. */
const nameOf = (profileName = ''): string =>
  [...profileName.replaceAll('\0', '').trim()].slice(0, 255).join('').toWellFormed();

/** What the network shows is a number, even where our metadata does not know its country yet. */
function numberOf({ waId, phoneKey }: Sender): { phone: string | null; phone_key: string | null } {
  const phone = waId === undefined ? null : (phoneOf(waId)?.e164 ?? `+${waId}`);
  return { phone, phone_key: phoneKey ?? null };
}

/** The profile name is all that is known of a stranger: its first word is taken for the first name. */
function newSender(sender: Sender): Omit<NewSender, 'source_id' | 'status_id'> {
  const [, firstname = '', lastname = ''] = /^(\S*)\s*([\s\S]*)$/.exec(nameOf(sender.profileName)) ?? [];
  return {
    firstname,
    lastname,
    ...numberOf(sender),
    wa_id: sender.waId ?? null,
    network_user_id: sender.userId ?? null,
  };
}

import type { Author } from '../../../core/author.ts';
import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { lockTenantUsage } from '../../../database/tenant-lock.ts';
import { TransactionConflict } from '../../../database/violations.ts';
import { append } from '../../../events/append.ts';
import { phoneKey } from '../../../platform/phone.ts';
import type { ContactRow } from '../contact.ts';
import { insertPersons } from '../contacts.sql.ts';
import { lockOutbox } from '../merging/merge.sql.ts';
import { type MergeRequest, mergeContacts } from '../merging/merge.ts';
import { lockContactRows } from '../store.ts';
import { type Evidence, lookupOf } from './evidence.ts';
import { type ChangeReason, People } from './people.ts';
import { finalOf, type Identity, type Person } from './person.ts';
import { loadPersons, type StoredPerson, updatePersons, writeIdentities } from './persons.sql.ts';
import { beginLocks, clearPhones, getDefaults, undoLocks } from './store.ts';

/** Attempts to lock the contacts; what an identity change committed before may extend the set to lock. */
const MAX_ATTEMPTS = 5;

const NETWORK: Author = { kind: 'system', id: null, name: 'network' };

/**
 * Resolves evidence from the network to contacts: creates unknown people, merges contacts of one person, moves numbers. If nothing
 * changes, which is the usual case, one statement suffices.
 *
 * Lock order: tenant_usage, contacts by id. Call it before the transaction locks contacts.
 * @param readEvidence called again under the locks, because a channel's portfolio may have changed
 * @param onCountedTwice as of a merge (`MergeRequest`)
 * @returns contact ids in the order of the evidence
 */
export async function recognise(
  trx: Db,
  tenantId: number,
  readEvidence: () => Promise<readonly Evidence[]>,
  nowMs: number,
  onCountedTwice?: MergeRequest['onCountedTwice'],
): Promise<number[]> {
  const evidence = await readEvidence();
  await beginLocks(trx);
  const first = await decide(trx, tenantId, evidence);
  if (!first.isChange) return first.resolved.map(person => finalOf(person).id);
  // Release the contact locks: tenant_usage must be locked first. It stays locked: no other identity change comes between attempts.
  await undoLocks(trx);
  await lockTenantUsage(trx, tenantId);
  await beginLocks(trx);
  let toLock = first.toLock;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    if (toLock.length > 0) await lockContactRows(trx, tenantId, toLock);
    // Decide again under the locks, because the data may have changed.
    const plan = await decide(trx, tenantId, await readEvidence());
    const missing = plan.toLock.filter(id => !toLock.includes(id));
    if (missing.length === 0) return apply(trx, tenantId, plan, nowMs, onCountedTwice);
    await undoLocks(trx);
    toLock = [...new Set([...toLock, ...missing])];
  }
  throw new TransactionConflict(`The contacts to change were others at each of ${MAX_ATTEMPTS} attempts.`);
}

interface Plan {
  readonly people: People;
  readonly resolved: readonly Person[];
  /** The stored contacts as they were read. */
  readonly stored: ReadonlyMap<number, StoredPerson>;
  readonly isChange: boolean;
  /** Ids of stored contacts that change. */
  readonly toLock: readonly number[];
}

async function decide(db: Db, tenantId: number, evidence: readonly Evidence[]): Promise<Plan> {
  const rows = await loadPersons(db, tenantId, lookupOf(evidence));
  const stored = new Map(rows.map(row => [row.id, row]));
  const people = new People(rows.map(toPerson));
  const resolved = evidence.map(one => people.resolve(one));
  const changed = [...people.persons].filter(person => isChanged(person, stored.get(person.id)));
  return {
    people,
    resolved,
    stored,
    isChange: changed.length > 0,
    toLock: [
      ...new Set([...changed, ...people.merges.map(({ survivor }) => survivor)].map(person => person.id)),
    ].filter(id => id > 0),
  };
}

const toPerson = (row: StoredPerson): Person => ({
  id: row.id,
  phone: row.phone,
  phoneKey: row.phone_key,
  secondKeys: (row.second_phones ?? []).map(phoneKey),
  weight: row.weight,
  identities: (row.identities ?? []).map(
    (identity): Identity => ({
      id: identity.id,
      kind: identity.kind,
      portfolio: identity.portfolio,
      value: identity.value,
      waId: identity.wa_id,
      startedAtMs: identity.started_ms,
      endedAtMs: identity.ended_ms,
      isDirty: false,
    }),
  ),
  mergedInto: null,
  profileName: undefined,
  apart: new Set(row.apart),
});

const isChanged = (person: Person, before: StoredPerson | undefined): boolean =>
  before === undefined ||
  person.mergedInto !== null ||
  person.phone !== before.phone ||
  nameFor(person, before) !== undefined ||
  person.identities.some(identity => identity.isDirty) ||
  // A user id that went to another contact.
  person.identities.length < (before.identities?.length ?? 0);

/** Writes the plan: clears numbers before reassigning them, merges and creates contacts before writing identities. */
async function apply(
  trx: Db,
  tenantId: number,
  { people, resolved, stored }: Plan,
  nowMs: number,
  onCountedTwice: MergeRequest['onCountedTwice'],
): Promise<number[]> {
  const persons = [...people.persons];
  const survivors = persons.filter(person => person.mergedInto === null);
  const settled = survivors.filter(person => person.id > 0);
  const clear = () => clearPhones(trx, tenantId, settled);
  // Cleared first, because assigning a number that another contact still has violates the unique key.
  if (settled.some(person => losesNumber(person, stored.get(person.id)))) await clear();
  const storedMerges = people.merges.filter(({ survivor, loser }) => survivor.id > 0 && loser.id > 0);
  if (storedMerges.length > 1)
    await lockOutbox(trx, tenantId, [
      ...new Set(storedMerges.flatMap(({ survivor, loser }) => [survivor.id, loser.id])),
    ]);
  for (const { survivor, loser } of storedMerges) {
    await mergeContacts(trx, tenantId, {
      survivorId: survivor.id,
      ids: [survivor.id, loser.id],
      reason: 'network',
      author: NETWORK,
      nowMs,
      numberBefore: stored.get(survivor.id),
      onCountedTwice,
    });
  }
  // A merge may fill in the loser's number, which may belong to another contact now.
  if (storedMerges.length > 0) await clear();
  const ids = await create(trx, tenantId, survivors);
  const idOf = (person: Person): number => ids.get(finalOf(person)) ?? finalOf(person).id;
  await writeIdentities(
    trx,
    tenantId,
    survivors.flatMap(person =>
      person.identities.filter(identity => identity.isDirty).map(identity => toRow(idOf(person), identity)),
    ),
  );
  const touched = settled.filter(person => isChanged(person, stored.get(person.id)));
  // Identities alone change no contact, unless the tenant is told of it.
  const hasEvents = people.reasons.size > 0;
  const rewritten = touched.filter(
    person => hasEvents || storedMerges.length > 0 || !hasStoredNumberAndName(person, stored.get(person.id)),
  );
  const written = await updatePersons(
    trx,
    tenantId,
    rewritten.map(person => ({
      id: person.id,
      phone: person.phone,
      phone_key: person.phoneKey,
      firstname: nameFor(person, stored.get(person.id))?.firstname ?? null,
      lastname: nameFor(person, stored.get(person.id))?.lastname ?? null,
      is_reported:
        hasEvents ||
        person.phone !== stored.get(person.id)?.phone ||
        nameFor(person, stored.get(person.id)) !== undefined,
    })),
  );
  const byId = new Map(written.map(row => [row.id, row]));
  await append(
    trx,
    tenantId,
    rewritten.flatMap(person =>
      eventsOf(person, byId.get(person.id), stored.get(person.id), reasonsOf(people, person)),
    ),
  );
  return resolved.map(idOf);
}

const hasStoredNumberAndName = (person: Person, before: StoredPerson | undefined): boolean =>
  person.phone === before?.phone && person.phoneKey === before.phone_key && nameFor(person, before) === undefined;

/** Whether a contact loses its number, with or without getting another one. */
const losesNumber = (person: Person, before: StoredPerson | undefined): boolean =>
  before !== undefined && before.phone_key !== null && before.phone_key !== person.phoneKey;

function eventsOf(
  person: Person,
  contact: ContactRow | undefined,
  before: StoredPerson | undefined,
  reasons: readonly ChangeReason[],
): NewEvent[] {
  if (!contact || !before) return [];
  const events: NewEvent[] = [];
  const isNamed = nameFor(person, before) !== undefined;
  const previous = {
    ...(person.phone !== before.phone && { phone: before.phone }),
    ...(isNamed && { firstname: '' }),
    ...(isNamed && contact.lastname !== '' && { lastname: '' }),
  };
  if (Object.keys(previous).length > 0) events.push({ type: 'contact.updated', payload: { contact, previous } });
  if (reasons.length > 0) events.push({ type: 'contact.identity_changed', payload: { contact, reasons } });
  return events;
}

/** Includes reasons that were noted for a contact before it was merged. */
const reasonsOf = (people: People, person: Person): ChangeReason[] => [
  ...new Set([...people.reasons].flatMap(([one, reasons]) => (finalOf(one) === person ? [...reasons] : []))),
];

/** Creates contacts for unknown people. @returns their ids */
async function create(trx: Db, tenantId: number, survivors: readonly Person[]): Promise<Map<Person, number>> {
  const newPersons = survivors.filter(person => person.id < 0);
  if (newPersons.length === 0) return new Map();
  const defaults = await getDefaults(trx, tenantId);
  const created = await insertPersons(
    trx,
    tenantId,
    newPersons.map(person => ({
      ...defaults,
      ...namesOf(person.profileName),
      phone: person.phone,
      phone_key: person.phoneKey,
    })),
  );
  await append(
    trx,
    tenantId,
    created.map(contact => ({ type: 'contact.created', payload: { contact } })),
  );
  return new Map(newPersons.map((person, index) => [person, created[index]?.id ?? 0]));
}

const toRow = (contactId: number, identity: Identity) => ({
  id: identity.id,
  contact_id: contactId,
  kind: identity.kind,
  portfolio: identity.portfolio,
  value: identity.value,
  wa_id: identity.waId,
  started_at: new Date(identity.startedAtMs).toISOString(),
  ended_at: identity.endedAtMs === null ? null : new Date(identity.endedAtMs).toISOString(),
});

/** The name that a stored contact without one gets: people who were known by their number alone show it when they write. */
function nameFor(person: Person, before: StoredPerson | undefined): Names | undefined {
  const names = before?.is_nameless ? namesOf(person.profileName) : undefined;
  return names?.firstname ? names : undefined;
}

interface Names {
  readonly firstname: string;
  readonly lastname: string;
}

/** Splits a profile name at its first space. Characters that cannot be stored are removed, because one would fail the whole batch. */
function namesOf(profileName = ''): Names {
  const name = [...profileName.replaceAll('\0', '').trim()].slice(0, 255).join('').toWellFormed();
  const [, firstname = '', lastname = ''] = /^(\S*)\s*([\s\S]*)$/.exec(name) ?? [];
  return { firstname, lastname };
}

import { conflict, FieldErrorList, invalid } from '../../core/errors.ts';
import { callerOf, type Principal, type Tenant } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Context } from '../../schema/context.ts';
import { authorOf } from '../tenancy/audit/author.ts';
import { type Batch, type BatchOptions, type BatchResult, faultsAt, MAX_BATCH, runBatch, settle } from './batch.ts';
import { recordApiOptOuts } from './consent/record.ts';
import {
  type ContactFields,
  type ContactInput,
  type ContactRow,
  EMAIL_TAKEN,
  PHONE_TAKEN,
  parseContact,
} from './contact.ts';
import { addToGroups, insertContacts, lockReferences } from './contacts.sql.ts';
import { newContact } from './create.ts';
import { restoreOptOutsOf } from './erasure/erased-people.ts';
import { parseGroupNames, resolveGroups } from './labels/group-names.ts';
import { type ContactReferences, checkReferences, collectReferences, parseReferences } from './references.ts';
import { type ContactQuota, findTaken, lockContactQuota, readContactQuota } from './store.ts';

export interface CreateContactsInput extends BatchOptions {
  readonly contacts: readonly ContactInput[];
  readonly skipDuplicates?: boolean | null | undefined;
}

interface Row {
  readonly index: number;
  readonly fields: ContactFields;
  readonly references: ContactReferences;
  readonly groupNames: readonly string[];
  readonly isOptedOut: boolean;
  readonly errors: FieldErrorList;
  skip: boolean;
}

/**
 * Creates up to 1,000 contacts in one transaction. A phone number that exists in the tenant or earlier in the batch is skipped
 * with `skipDuplicates`, otherwise it is an error of `phone`. The plan's limit is checked per row under the counter's lock.
 * @throws VALIDATION_ERROR for no contacts, or too many; INSUFFICIENT_SCOPE without groups:write if a group must be created
 */
export async function createContacts(context: Context, input: CreateContactsInput): Promise<Batch> {
  const principal = callerOf(context);
  const count = input.contacts.length;
  if (count === 0 || count > MAX_BATCH)
    throw invalid({ contacts: [`Takes 1 to ${MAX_BATCH} contacts.`] }, count === 0 ? 'REQUIRED' : 'TOO_MANY');
  const keyed = { operation: 'createContacts', key: input.idempotencyKey, input };
  return runBatch(context, principal.tenant.id, keyed, trx => create(context, trx, principal, input));
}

/**
 * Checks contacts, any number of them, as a batch that skips duplicates would, and writes nothing. Neither does it lock anything: others
 * may create the same contacts, or use the plan up, before these are created.
 * @returns an outcome for each, in their order
 */
export async function checkContacts(
  context: Context,
  contacts: readonly ContactInput[],
): Promise<readonly BatchResult[]> {
  const { tenant } = callerOf(context);
  const quota = await readContactQuota(context.db.write, tenant.id);
  const { rows, accepted } = await examine(context.db.write, tenant, quota, { contacts, skipDuplicates: true });
  return resultsOf(rows, quota, new Map(accepted.map(row => [row, null])));
}

async function create(context: Context, trx: Db, principal: Principal, input: CreateContactsInput): Promise<Batch> {
  const { tenant } = principal;
  // Locking the counter first serialises creations of a tenant, so that no duplicate appears between check and insert.
  const quota = await lockContactQuota(trx, tenant.id);
  const { rows, accepted } = await examine(trx, tenant, quota, input);
  const created = new Map<Row, ContactRow | null>(accepted.map(row => [row, null]));
  // A batch that will be undone inserts nothing.
  const isKept = input.onError !== 'roll_back' || accepted.length === rows.filter(row => !row.skip).length;
  if (isKept && accepted.length > 0)
    for (const [index, contact] of (await insert(context, trx, principal, accepted)).entries())
      created.set(accepted[index] as Row, contact);
  return settle(resultsOf(rows, quota, created), input, 'contacts');
}

/** Finds the faults of each row, and the rows that can be created within the plan. */
async function examine(
  db: Db,
  tenant: Tenant,
  { remaining }: ContactQuota,
  { contacts, skipDuplicates }: CreateContactsInput,
): Promise<{ rows: readonly Row[]; accepted: readonly Row[] }> {
  const rows = contacts.map((contact, index) => parseRow(tenant.id, contact, index));
  await findErrors(db, tenant, rows, skipDuplicates ?? false);
  const valid = rows.filter(row => !row.skip && row.errors.isEmpty);
  return { rows, accepted: remaining === null ? valid : valid.slice(0, remaining) };
}

/** @param accepted with their contacts, if they were created */
const resultsOf = (
  rows: readonly Row[],
  quota: ContactQuota,
  accepted: ReadonlyMap<Row, ContactRow | null>,
): BatchResult[] =>
  rows.map((row): BatchResult => {
    const path = ['contacts', String(row.index)];
    const { index } = row;
    if (row.skip)
      return {
        index,
        outcome: 'skipped',
        contact: null,
        userErrors: [error('TAKEN', PHONE_TAKEN, [...path, 'phone'])],
      };
    if (!row.errors.isEmpty)
      return { index, outcome: 'failed', contact: null, userErrors: faultsAt(row.errors.faults, path) };
    if (accepted.has(row)) return { index, outcome: 'created', contact: accepted.get(row) ?? null, userErrors: [] };
    const message = `The plan allows ${quota.maximum} contacts, ${quota.used} are in use.`;
    const details = { feature: 'contacts', current: quota.used, maximum: quota.maximum };
    return {
      index,
      outcome: 'failed',
      contact: null,
      userErrors: [{ ...error('FEATURE_LIMIT_EXCEEDED', message, path), details }],
    };
  });

const error = (code: 'TAKEN' | 'FEATURE_LIMIT_EXCEEDED', message: string, path: readonly string[]) => ({
  code,
  message,
  path,
  details: {},
});

function parseRow(tenantId: number, contact: ContactInput, index: number): Row {
  const errors = new FieldErrorList();
  const fields = parseContact(contact, errors);
  const groupNames = parseGroupNames(contact.groupNames ?? [], errors, 'groupNames');
  if (contact.phone === undefined) errors.add('phone', 'Is required.', 'REQUIRED');
  const isOptedOut = contact.isOptedOut ?? false;
  return { index, fields, references: parseReferences(tenantId, contact), groupNames, isOptedOut, errors, skip: false };
}

async function findErrors(trx: Db, tenant: Tenant, rows: readonly Row[], skipDuplicates: boolean): Promise<void> {
  const found = await lockReferences(trx, tenant.id, collectReferences(rows.map(row => row.references)));
  const taken = await findTaken(
    trx,
    tenant.id,
    rows.flatMap(row => row.fields.phone_key ?? []),
    rows.flatMap(row => row.fields.email?.toLowerCase() ?? []),
  );
  for (const row of rows) {
    checkReferences(row.references, found, row.errors);
    const { phone_key: key, email } = row.fields;
    if (key !== undefined && taken.phoneKeys.has(key)) {
      // A duplicate is skipped regardless of other faults, because it is not created either way.
      if (skipDuplicates) row.skip = true;
      else row.errors.add('phone', PHONE_TAKEN, 'TAKEN');
    }
    if (email && taken.emails.has(email.toLowerCase())) row.errors.add('email', EMAIL_TAKEN, 'TAKEN');
    if (row.skip || !row.errors.isEmpty) continue;
    if (key !== undefined) taken.phoneKeys.add(key);
    if (email) taken.emails.add(email.toLowerCase());
  }
}

async function insert(
  context: Context,
  trx: Db,
  principal: Principal,
  rows: readonly Row[],
): Promise<readonly ContactRow[]> {
  const { tenant } = principal;
  const nowIso = new Date(context.clock.now()).toISOString();
  // After the counter: lock order is tenant_usage, contacts, groups.
  const groupIds = await resolveGroups(
    trx,
    principal,
    rows.flatMap(row => row.groupNames),
  );
  const contacts = await insertContacts(
    trx,
    tenant.id,
    rows.map(row => ({
      ...newContact(tenant, row.fields, row.references),
      opted_out_at: row.isOptedOut ? nowIso : null,
    })),
  );
  if (contacts.length !== rows.length)
    throw conflict('Another request changed these contacts at the same time. Try again.');
  const members = rows.flatMap((row, index) => {
    const ids = [...(row.references.groups ?? []), ...row.groupNames.map(name => groupIds.get(name) as number)];
    return [...new Set(ids)].map(groupId => ({ contactId: (contacts[index] as ContactRow).id, groupId }));
  });
  if (members.length > 0) await addToGroups(trx, tenant.id, members);
  await append(
    trx,
    tenant.id,
    contacts.map(contact => ({ type: 'contact.created', payload: { contact } })),
  );
  const optedOut = contacts.filter(contact => contact.opted_out_at !== null);
  await recordApiOptOuts(trx, tenant.id, optedOut, authorOf(context), nowIso);
  return restoreOptOutsOf(trx, context.secrets, tenant.id, contacts);
}

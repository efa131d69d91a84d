import { CodedError, FieldErrorList, invalid, notFound } from '../../../core/errors.ts';
import { decodeGlobalId } from '../../../core/global-ids.ts';
import { newId, newIdAt } from '../../../core/ids.ts';
import type { Tenant } from '../../../core/principal.ts';
import { callerOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { violationOf } from '../../../database/violations.ts';
import { SemaphoreTimeout } from '../../../platform/keyed-semaphore.ts';
import { phoneKey } from '../../../platform/phone.ts';
import type { Context } from '../../../schema/context.ts';
import { requireUsable } from '../../channels/usable.ts';
import { type ContactInput, PHONE_ERROR, parseContact, phoneOf } from '../../contacts/contact.ts';
import { contactLimitError, isLimitViolation, newContact } from '../../contacts/create.ts';
import { findErased, restoreOptOuts } from '../../contacts/erasure/erased-people.ts';
import { identityDigest } from '../../contacts/erasure/subject.ts';
import { contactLoader } from '../../contacts/loaders.ts';
import {
  checkReferences,
  collectReferences,
  findContactReferences,
  parseReferences,
} from '../../contacts/references.ts';
import { forgetExpiredKey } from '../../tenancy/idempotency/keys.ts';
import { fingerprintOf, keyOf, markAnswering, replayOf } from '../../tenancy/idempotency/once.ts';
import { monthlyLimitOf, monthlyRefusal } from '../../tenancy/usage/limit.ts';
import { anyShard, monthOf } from '../../tenancy/usage/month.ts';
import { reshareMonth } from '../../tenancy/usage/share.ts';
import { laneOf, OUTBOX, PRIORITY, type Priority } from '../dispatch/lane.ts';
import type { MessageRow } from '../message.ts';
import { getMessages } from '../messages.sql.ts';
import { windowOf } from '../window.ts';
import {
  type Addressee,
  insertOutbound,
  lockAddressee,
  type NewMessage,
  readSendContext,
  type SendContext,
  type SentResult,
} from './accept.sql.ts';
import { type Composed, type Content, checkTexts, compose, recipientFields } from './content.ts';
import { ACCEPTANCE_TIMEOUT_MS, outcomeOf } from './outcome.ts';
import type { Recipient } from './recipient.sql.ts';

/** Input common to all kinds of content. */
export interface SendInput {
  /** A phone number in international format, or the global id of a contact. */
  readonly to: string;
  /** If given, `to` must belong to this contact. */
  readonly contactId?: number | null | undefined;
  readonly channelId?: number | null | undefined;
  /** Used if this send creates the contact. */
  readonly contact?: Omit<ContactInput, 'phone'> | null | undefined;
  readonly requireOpenWindow?: boolean | null | undefined;
  readonly waitForAcceptance?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
  /** The network's id of the message that this one answers. */
  readonly replyToWamid?: string | null | undefined;
  /** Whether merge fields without a value and without a fallback are removed. Default: they are an error. Not for callers of the API. */
  readonly removesEmptyFields?: boolean;
  /** The message's id (a new UUIDv7), if the sender must know it beforehand. A duplicate violates the primary key. */
  readonly id?: string | undefined;
}

/** Attempts after a concurrent request created or changed the contact between read and write. */
const MAX_TRIES = 4;

/**
 * Accepts a message: when this resolves, the message is durable and will be sent.
 * Takes two database round trips: one read, one write.
 *
 * @throws VALIDATION_ERROR, NOT_FOUND (contact or channel), MESSAGING_NOT_CONFIGURED, CONTACT_OPTED_OUT, OUTSIDE_SERVICE_WINDOW,
 *   FEATURE_LIMIT_EXCEEDED, IDEMPOTENCY_MISMATCH; MESSAGE_SEND_FAILED if it waited and the network refused
 */
export async function send(
  context: Context,
  operation: string,
  input: SendInput,
  content: Content,
): Promise<MessageRow> {
  const { tenant } = callerOf(context);
  // Waiting is not part of the idempotent request: a retry may wait where the first attempt did not.
  const { waitForAcceptance: _waits, ...sent } = input;
  const keyed = { operation, key: input.idempotencyKey, input: sent };
  const key = keyOf(keyed);
  const recipient: Recipient = recipientOf(input.to);
  checkTexts(content.texts);
  const counter = { month: monthOf(context.clock.now()), shard: anyShard() };
  const from = input.channelId ?? content.channelId ?? null;
  const digest = digestOf(context, recipient);
  for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
    const found = await readSendContext(
      context.db.read,
      tenant.id,
      from,
      recipient,
      key ?? null,
      counter,
      content.category ?? null,
      digest,
    );
    if (key !== undefined && found.key_operation !== null)
      return replayStored(context, input, await replayOf(context, key, keyRow(found), keyed));
    const { id: channelId } = requireUsable(channelOf(found), from !== null);
    await checkContact(context, input, found);
    const addressee = await addresseeOf(context, input, content, recipient, found);
    checkWindow(tenant, input, content, found);
    const composed = compose(content, found.contact ?? recipientFields(addressee), input.removesEmptyFields ?? false);
    // A caller that waits for the message, or asks whether its request still runs, needs the id before the message exists.
    const isKnownBefore = input.waitForAcceptance === true || (key !== undefined && context.replay.wantsAnswer);
    const message = {
      id: input.id ?? (isKnownBefore ? newIdAt(found.now_ms) : null),
      channelId,
      type: content.type,
      priority: priorityOf(content, found),
      templateId: content.templateId ?? null,
      body: composed.body,
      content: composed.content,
      sealed: composed.secret ? context.secrets.seal(JSON.stringify(composed.secret)) : null,
      counter,
      replyToWamid: input.replyToWamid ?? null,
      createdAt: new Date(found.now_ms).toISOString(),
      eventId: newId(),
      key: key === undefined ? undefined : { key, operation, fingerprint: fingerprintOf(context, keyed) },
    };
    if (key !== undefined) await markAnswering(context, key, message.id ?? undefined);
    const accepted =
      input.waitForAcceptance && message.id !== null
        ? context.bus.awaitOutcome(tenant.id, message.id, ACCEPTANCE_TIMEOUT_MS)
        : undefined;
    const row = await accept(context, message, addressee, found)
      .catch(error => onRefusal(context, error, key, counter.month))
      .catch(error => {
        accepted?.cancel();
        throw error;
      });
    if (!row) {
      accepted?.cancel();
      context.replay.end?.();
      delete context.replay.end;
      continue;
    }
    if (key !== undefined) context.replay.key = key;
    context.lanes.wake(OUTBOX, laneOf(tenant.id, channelId));
    context.signals.send('events');
    const known = {
      ...row,
      phone: found.contact ? found.contact.phone : (recipient.phone ?? null),
      // The statement creates the contact together with the message.
      contact_created: 'fields' in addressee,
    };
    return accepted ? outcomeOf((await accepted.message) ?? known, known) : known;
  }
  throw new CodedError('SERVICE_UNAVAILABLE', 'The contact is being changed by other requests. Try again.');
}

/** A dry run of `send`, without the plan's counters. Writes nothing and appends no event. */
export async function preview(
  context: Context,
  input: Omit<SendInput, 'idempotencyKey'>,
  content: Content,
): Promise<Composed> {
  const { tenant } = callerOf(context);
  const recipient: Recipient = recipientOf(input.to);
  checkTexts(content.texts);
  const counter = { month: monthOf(context.clock.now()), shard: anyShard() };
  const from = input.channelId ?? content.channelId ?? null;
  const digest = digestOf(context, recipient);
  const found = await readSendContext(
    context.db.read,
    tenant.id,
    from,
    recipient,
    null,
    counter,
    content.category ?? null,
    digest,
  );
  requireUsable(channelOf(found), from !== null);
  const addressee = await addresseeOf(context, input, content, recipient, found);
  checkWindow(tenant, input, content, found);
  return compose(content, found.contact ?? recipientFields(addressee), input.removesEmptyFields ?? false);
}

/** Null for a contact known by id: it already exists, so no opt-out from before an erasure applies. */
const digestOf = ({ secrets, principal }: Context, recipient: Recipient): Buffer | null =>
  'phoneKey' in recipient ? identityDigest(secrets, callerOf({ principal }).tenant.id, recipient.phoneKey) : null;

function recipientOf(to: string): Recipient {
  const decoded = decodeGlobalId(to);
  if (decoded?.typename === 'Contact' && /^\d{1,15}$/.test(decoded.id)) return { contactId: Number(decoded.id) };
  const phone = phoneOf(to);
  // The message does not mention ids, because REST has a separate field for them.
  if (!phone) throw invalid({ to: [PHONE_ERROR] });
  return { phoneKey: phone.key, phone: phone.e164 };
}

/**
 * Serialises sends that need the same lock: the contact's row, or the tenant's counters for a new contact. Otherwise forty sends to
 * one contact hold all connections of the process, and unrelated calls are rejected.
 */
async function accept(
  context: Context,
  message: NewMessage,
  addressee: Addressee,
  found: SendContext,
): Promise<MessageRow | undefined> {
  const tenantId = callerOf(context).tenant.id;
  const lock = 'contactId' in addressee ? `contact ${addressee.contactId}` : 'new contacts';
  try {
    return await context.sendSemaphore.run(`${tenantId} ${lock}`, () => store(context, message, addressee, found));
  } catch (error) {
    if (!(error instanceof SemaphoreTimeout)) throw error;
    throw new CodedError(
      'SERVICE_UNAVAILABLE',
      'Too many messages to this contact are waiting to be accepted. Try again.',
    );
  }
}

/**
 * Stores the message. If its counter shard is exhausted, rebalances the plan's month across shards under the locks of the statement;
 * the retry then succeeds, or the plan is used up. A contact that it creates gets the opt-outs from before an erasure with it.
 */
async function store(
  context: Context,
  message: NewMessage,
  addressee: Addressee,
  { is_used_up: isUsedUp, erased_opt_outs: optOuts }: SendContext,
): Promise<MessageRow | undefined> {
  const { db, secrets } = context;
  const { id: tenantId } = callerOf(context).tenant;
  const restoredKey = optOuts !== null && 'fields' in addressee ? addressee.fields.phone_key : undefined;
  const insert = async (trx: Db, to: Addressee): Promise<MessageRow | undefined> => {
    const row = await insertOutbound(trx, tenantId, message, to);
    if (row && restoredKey)
      await restoreOptOuts(trx, tenantId, await findErased(trx, secrets, tenantId, [restoredKey]));
    return row;
  };
  if (!isUsedUp) {
    try {
      return await (restoredKey ? db.transaction(trx => insert(trx, addressee)) : insert(db.write, addressee));
    } catch (error) {
      if (!monthlyLimitOf(error)) throw error;
    }
  }
  return db.transaction(async trx => {
    const locked = await lockAddressee(trx, tenantId, message.channelId, addressee);
    if (!locked) return undefined;
    await reshareMonth(trx, tenantId, message.counter.month, message.counter.shard);
    return insert(trx, locked);
  });
}

const channelOf = ({ channel_id: id, channel_status: status, channel_status_reason: status_reason }: SendContext) =>
  id === null || status === null ? undefined : { id, status, status_reason };

/** @throws VALIDATION_ERROR on both fields when `to` and `contactId` name different people */
async function checkContact(context: Context, { contactId }: SendInput, { contact }: SendContext): Promise<void> {
  if (contactId == null || contact?.id === contactId) return;
  // The id of a contact that was merged away loads the survivor.
  const named = await contactLoader(context).load(contactId);
  if (named && named.id === contact?.id) return;
  throw invalid({
    to: ['Is not the phone number of this contact: give one of the two fields.'],
    contactId: ['Is not the contact with this phone number: give one of the two fields.'],
  });
}

async function addresseeOf(
  context: Context,
  input: SendInput,
  content: Content,
  recipient: Recipient,
  found: SendContext,
): Promise<Addressee> {
  const { tenant } = callerOf(context);
  const { contact } = found;
  const mayBeOptedOut = content.isCode === true && context.config.otp.toOptedOut;
  if (contact) {
    if (contact.opted_out_at !== null && !mayBeOptedOut)
      throw new CodedError('CONTACT_OPTED_OUT', 'This contact asked not to be messaged.', {
        opted_out_at: contact.opted_out_at,
        category: 'all',
      });
    if (found.category_opted_out_at !== null)
      throw new CodedError('CONTACT_OPTED_OUT', `This contact asked not to get ${content.category} messages.`, {
        opted_out_at: found.category_opted_out_at,
        category: content.category,
      });
    if (found.is_unreachable)
      throw invalid({
        to: ['This contact has no phone number, and no user id in the business portfolio of the channel.'],
      });
    if (
      content.isCode &&
      'phoneKey' in recipient &&
      contact.phone !== null &&
      phoneKey(contact.phone) !== recipient.phoneKey
    )
      throw invalid({ to: ['Messages to this contact go to its other number: the code would not prove this one.'] });
    return {
      contactId: contact.id,
      conversationId: found.conversation_id,
      isCounted: found.is_counted,
      mayBeOptedOut,
    };
  }
  if ('contactId' in recipient) throw notFound('Contact');
  refuseErased(content, found, mayBeOptedOut);
  const given = input.contact ?? {};
  const errors = new FieldErrorList();
  const fields = {
    ...parseContact(given, errors, 'contact.'),
    phone: recipient.phone ?? '',
    phone_key: recipient.phoneKey,
  };
  const references = parseReferences(given);
  const wanted = collectReferences([references]);
  // Looked up only if the send names references.
  if (Object.values(wanted).some(ids => ids.length > 0))
    checkReferences(references, await findContactReferences(context.db.read, tenant.id, wanted), errors, 'contact.');
  errors.throwIfAny();
  return { fields: newContact(tenant, fields, references), groupIds: references.groups ?? [], eventId: newId() };
}

/** @throws CONTACT_OPTED_OUT if a person with the number of a new contact had opted out before their erasure */
function refuseErased(
  { category }: Content,
  { erased_at: optedOutAt, erased_opt_outs: optOuts }: SendContext,
  mayBeOptedOut: boolean,
): void {
  if (optOuts?.includes('all')) {
    if (mayBeOptedOut) return;
    throw new CodedError(
      'CONTACT_OPTED_OUT',
      'The person with this number asked not to be messaged before their data was erased.',
      { opted_out_at: optedOutAt, category: 'all' },
    );
  }
  if (category !== undefined && optOuts?.includes(category))
    throw new CodedError(
      'CONTACT_OPTED_OUT',
      `The person with this number asked not to get ${category} messages before their data was erased.`,
      { opted_out_at: optedOutAt, category },
    );
}

function checkWindow(tenant: Tenant, input: SendInput, content: Content, found: SendContext): void {
  const refuses = input.requireOpenWindow ?? tenant.windowPolicy === 'refuse';
  if (!content.freeForm || !refuses || windowOf(found.window_expires_at, found.now_ms).open) return;
  throw new CodedError(
    'OUTSIDE_SERVICE_WINDOW',
    'The 24-hour service window of this contact is closed: only a template can be sent.',
    {
      windowExpiredAt: found.window_expires_at,
    },
  );
}

function priorityOf({ isCode, freeForm }: Content, { window_expires_at, now_ms: nowMs }: SendContext): Priority {
  if (isCode) return PRIORITY.otp;
  return freeForm && windowOf(window_expires_at, nowMs).open ? PRIORITY.answer : PRIORITY.single;
}

/** Nothing was written. The next attempt reads the idempotency key or contact that a concurrent request has just created. */
async function onRefusal(context: Context, error: unknown, key: string | undefined, month: string): Promise<undefined> {
  if (isLimitViolation(error)) throw await contactLimitError(context.db.write, callerOf(context).tenant.id);
  const feature = monthlyLimitOf(error);
  if (feature) throw await monthlyRefusal(context.db.write, callerOf(context).tenant.id, month, feature);
  const constraint = violationOf(error)?.constraint;
  if (constraint === 'idempotency_keys_pkey' && key !== undefined) {
    await forgetExpiredKey(context, key);
    return undefined;
  }
  throw error;
}

const keyRow = (found: SendContext) => ({
  operation: found.key_operation ?? '',
  fingerprint: Buffer.from(found.key_fingerprint ?? '', 'hex'),
  result: found.key_result,
  answer: found.key_answer,
  age: found.key_age ?? 0,
});

async function replayStored(context: Context, input: SendInput, stored: unknown): Promise<MessageRow> {
  const { id, contact_created } = stored as SentResult;
  const [row] = await getMessages(context.db.write, callerOf(context).tenant.id, [id]);
  if (!row) throw notFound('Message');
  const message = { ...row, ...(contact_created !== undefined && { contact_created }) };
  return input.waitForAcceptance ? outcomeOf(message, message) : message;
}

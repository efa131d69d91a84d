import type { Context, Tenant } from '../../context.ts';
import { CodedError, FieldErrorList, invalid, notFound } from '../../errors.ts';
import { decodeGlobalId } from '../../global-ids.ts';
import type { OutgoingType } from '../../network/network.ts';
import { newId } from '../../platform/ids.ts';
import type { JsonObject } from '../../platform/json.ts';
import { isLonger } from '../../platform/text.ts';
import { violationOf } from '../../platform/violations.ts';
import { callerOf } from '../caller.ts';
import { requireUsable } from '../channels/usable.ts';
import { findContactReferences } from '../contacts/check-references.ts';
import { type ContactInput, PHONE_FAULT, parseContact, phoneOf } from '../contacts/contact.ts';
import { isLimitViolation, newContact } from '../contacts/create.ts';
import { limitRefusal } from '../contacts/limit.ts';
import { checkReferences, parseReferences, wantedReferences } from '../contacts/references.ts';
import { forgetExpiredKey } from '../idempotency/forget.ts';
import { fingerprintOf, keyOf, replayOf } from '../idempotency/once.ts';
import { monthlyLimitOf, monthlyRefusal } from '../usage/limit.ts';
import { anyShard, monthOf } from '../usage/month.ts';
import { reshareMonth } from '../usage/share.ts';
import { laneOf, OUTBOX } from './lane.ts';
import { MERGE_FIELDS, mergeFields, unknownFields } from './merge-fields.ts';
import type { MessageRow } from './message.ts';
import { ACCEPTANCE_TIMEOUT_MS, outcomeOf } from './outcome.ts';
import {
  type Addressee,
  getMessages,
  insertOutbound,
  lockAddressee,
  type NewMessage,
  type Recipient,
  readSendContext,
  type SendContext,
  type SentResult,
} from './store.ts';
import { windowOf } from './window.ts';

/** What every send has in common, whatever its content. */
export interface SendInput {
  /** A phone number in international format, or the global id of a contact. */
  readonly to: string;
  readonly channelId?: number | null | undefined;
  /** Used when the contact is made by this send. */
  readonly contact?: Omit<ContactInput, 'phone'> | null | undefined;
  readonly requireOpenWindow?: boolean | null | undefined;
  readonly waitForAcceptance?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
  /** The network's id of the message that this one answers. */
  readonly replyToWamid?: string | null | undefined;
  /** The message's own id (a new UUIDv7), where the sender has to know it beforehand: one that is there already is refused by its key. */
  readonly id?: string | undefined;
}

/** A text of a message: its merge fields are filled for the person, then it is checked. */
export interface MergeText {
  readonly text: string;
  /** In characters, after merging. */
  readonly maxLength: number;
  /** Unless true, a text that is empty, before or after merging, is refused. */
  readonly mayBeEmpty?: boolean;
}

/** What is sent. */
export interface Content {
  /** The network's word. */
  readonly type: OutgoingType;
  /** Free-form content needs an open service window, templates do not. */
  readonly freeForm: boolean;
  /** Where it can be sent from alone, which counts when the caller names no channel: that of an upload, or of a template. */
  readonly channelId?: number | undefined;
  /** By the input's field that errors name. */
  readonly texts: Readonly<Record<string, MergeText>>;
  /** Makes the message of its texts, once they are merged for the person. @param text the merged text of a field; '' for one that was not given */
  compose(text: (field: string) => string): Composed;
}

export interface Composed {
  /** What people read and search: the text, the caption, the filled template. */
  readonly body: string | null;
  /** The network's own object of the type; of a text without its body (cloud-api §4). */
  readonly content: JsonObject;
  /** The same object as it is really sent, where `content` hides a secret: it is kept sealed, and only until it is sent. */
  readonly secret?: JsonObject;
}

/** Another request may make or change the same contact between our look and our statement; it does not do so for ever. */
const MAX_TRIES = 4;

/**
 * Accepts a message: when this resolves it is stored, will be sent, and survives the death of every process.
 * Two round trips to the database: one reads all that the decision needs, one writes all that follows from it.
 *
 * @throws VALIDATION_ERROR, NOT_FOUND (contact or channel), MESSAGING_NOT_CONFIGURED, CONTACT_OPTED_OUT, OUTSIDE_SERVICE_WINDOW,
 *   FEATURE_LIMIT_EXCEEDED, IDEMPOTENCY_MISMATCH; MESSAGE_SEND_FAILED when it waited and the network refused
 */
export async function send(
  context: Context,
  operation: string,
  input: SendInput,
  content: Content,
): Promise<MessageRow> {
  const { tenant } = callerOf(context);
  // Whether the caller waits says nothing about what is sent: a try that waits and one that does not are the same request.
  const { waitForAcceptance: _waits, ...sent } = input;
  const keyed = { operation, key: input.idempotencyKey, input: sent };
  const key = keyOf(keyed);
  const recipient: Recipient & { readonly phone?: string } = recipientOf(input.to);
  checkTexts(content.texts);
  const counter = { month: monthOf(context.clock.now()), shard: anyShard() };
  const from = input.channelId ?? content.channelId ?? null;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
    const found = await readSendContext(context.db.read, tenant.id, from, recipient, key ?? null, counter);
    if (found.key_operation !== null) return again(context, input, replayOf(context, keyRow(found), keyed));
    const { id: channelId } = requireUsable(channelOf(found), from !== null);
    const addressee = await addresseeOf(context, tenant, input, recipient, found);
    checkWindow(context, tenant, input, content, found);
    const composed = compose(content, found.contact ?? recipientFields(addressee));
    const message = {
      id: input.id ?? newId(),
      channelId,
      type: content.type,
      body: composed.body,
      content: composed.content,
      sealed: composed.secret ? context.secrets.seal(JSON.stringify(composed.secret)) : null,
      counter,
      replyToWamid: input.replyToWamid ?? null,
      createdAt: new Date(context.clock.now()).toISOString(),
      eventId: newId(),
      key: key === undefined ? undefined : { key, operation, fingerprint: fingerprintOf(context, keyed) },
    };
    const accepted = input.waitForAcceptance
      ? context.bus.settled(tenant.id, message.id, ACCEPTANCE_TIMEOUT_MS)
      : undefined;
    const row = await accept(context, message, addressee, found.is_used_up)
      .catch(error => onRefusal(context, error, key, counter.month))
      .catch(error => {
        accepted?.cancel();
        throw error;
      });
    if (!row) {
      accepted?.cancel();
      continue;
    }
    if (key !== undefined) context.replay.key = key;
    context.jobs.wake(OUTBOX, laneOf(tenant.id, channelId));
    context.signals.send('events');
    const known = {
      ...row,
      phone: found.contact ? found.contact.phone : (recipient.phone ?? null),
      // The statement makes the contact with the message or does nothing at all.
      contact_created: 'fields' in addressee,
    };
    return accepted ? outcomeOf((await accepted.message) ?? known, known) : known;
  }
  throw new CodedError('SERVICE_UNAVAILABLE', 'The contact is being changed by other requests. Try again.');
}

/** What `send` would store and what it would refuse, but for counters of plans. Nothing is written, and nobody is told. */
export async function preview(
  context: Context,
  input: Omit<SendInput, 'idempotencyKey'>,
  content: Content,
): Promise<Composed> {
  const { tenant } = callerOf(context);
  const recipient: Recipient & { readonly phone?: string } = recipientOf(input.to);
  checkTexts(content.texts);
  const counter = { month: monthOf(context.clock.now()), shard: anyShard() };
  const from = input.channelId ?? content.channelId ?? null;
  const found = await readSendContext(context.db.read, tenant.id, from, recipient, null, counter);
  requireUsable(channelOf(found), from !== null);
  const addressee = await addresseeOf(context, tenant, input, recipient, found);
  checkWindow(context, tenant, input, content, found);
  return compose(content, found.contact ?? recipientFields(addressee));
}

function recipientOf(to: string): Recipient & { readonly phone?: string } {
  const decoded = decodeGlobalId(to);
  if (decoded?.typename === 'Contact' && /^\d{1,15}$/.test(decoded.id)) return { contactId: Number(decoded.id) };
  const phone = phoneOf(to);
  // Not a word of ids: REST has another field for them, and the schema says what this one takes.
  if (!phone) throw invalid({ to: [PHONE_FAULT] });
  return { phoneKey: phone.key, phone: phone.e164 };
}

/** What can be known of texts before the person is. @throws VALIDATION_ERROR by field */
export function checkTexts(texts: Content['texts']): void {
  const errors = new FieldErrorList();
  for (const [field, { text, maxLength, mayBeEmpty = false }] of Object.entries(texts)) {
    const unknown = unknownFields(text);
    if (text.trim() === '' && !mayBeEmpty) errors.add(field, 'Is required.');
    // Merged values only ever come from short fields: what is far too long is refused before anything is read.
    else if (text.length > 4 * maxLength) errors.add(field, `May have at most ${maxLength} characters.`);
    else if (text.includes('\0')) errors.add(field, 'May not contain the character U+0000.');
    else if (unknown.length > 0)
      errors.add(field, `Unknown merge field: ${unknown.join(', ')}. Known are ${MERGE_FIELDS.join(', ')}.`);
  }
  errors.throwIfAny();
}

function compose(content: Content, person: Parameters<typeof mergeFields>[1]): Composed {
  const errors = new FieldErrorList();
  const merged = new Map<string, string>();
  for (const [field, { text, maxLength, mayBeEmpty = false }] of Object.entries(content.texts)) {
    const filled = mergeFields(text, person);
    merged.set(field, filled);
    if (isLonger(filled, maxLength)) errors.add(field, `May have at most ${maxLength} characters after merging.`);
    else if (filled.trim() === '' && !mayBeEmpty) errors.add(field, 'Is empty after merging.');
  }
  errors.throwIfAny();
  return content.compose(field => merged.get(field) ?? '');
}

/**
 * Stores the message. Where its counter has no room left, the plan's month is shared out anew first, with everything locked
 * that the statement needs: it then succeeds, or the plan is used up.
 */
async function accept(
  context: Context,
  message: NewMessage,
  addressee: Addressee,
  isUsedUp: boolean,
): Promise<MessageRow | undefined> {
  const { db } = context;
  const { id: tenantId } = callerOf(context).tenant;
  if (!isUsedUp) {
    try {
      return await insertOutbound(db.write, tenantId, message, addressee);
    } catch (error) {
      if (!monthlyLimitOf(error)) throw error;
    }
  }
  return db.transaction(async trx => {
    const locked = await lockAddressee(trx, tenantId, message.channelId, addressee);
    if (!locked) return undefined;
    await reshareMonth(trx, tenantId, message.counter.month, message.counter.shard);
    return insertOutbound(trx, tenantId, message, locked);
  });
}

const channelOf = ({ channel_id: id, channel_status: status, channel_status_reason: status_reason }: SendContext) =>
  id === null || status === null ? undefined : { id, status, status_reason };

async function addresseeOf(
  context: Context,
  tenant: Tenant,
  input: SendInput,
  recipient: Recipient & { readonly phone?: string },
  found: SendContext,
): Promise<Addressee> {
  const { contact } = found;
  if (contact) {
    if (contact.opted_out_at !== null)
      throw new CodedError('CONTACT_OPTED_OUT', 'This contact asked not to be messaged.', {
        opted_out_at: contact.opted_out_at,
      });
    return { contactId: contact.id, conversationId: found.conversation_id, isCounted: found.is_counted };
  }
  if ('contactId' in recipient) throw notFound('Contact');
  const given = input.contact ?? {};
  const errors = new FieldErrorList();
  const fields = {
    ...parseContact(given, errors, 'contact.'),
    phone: recipient.phone ?? '',
    phone_key: recipient.phoneKey,
  };
  const references = parseReferences(given);
  const wanted = wantedReferences([references]);
  // Only a send that names rows of the tenant pays for looking them up.
  if (Object.values(wanted).some(ids => ids.length > 0))
    checkReferences(references, await findContactReferences(context.db.read, tenant.id, wanted), errors, 'contact.');
  errors.throwIfAny();
  return { fields: { ...newContact(tenant, fields, references) }, groupIds: references.groups ?? [], eventId: newId() };
}

function checkWindow(context: Context, tenant: Tenant, input: SendInput, content: Content, found: SendContext): void {
  const refuses = input.requireOpenWindow ?? tenant.windowPolicy === 'refuse';
  if (!content.freeForm || !refuses || windowOf(found.window_expires_at, context.clock.now()).open) return;
  throw new CodedError(
    'OUTSIDE_SERVICE_WINDOW',
    'The 24-hour service window of this contact is closed: only a template can be sent.',
    {
      windowExpiredAt: found.window_expires_at,
    },
  );
}

/** The person's fields for merging, where the contact is only about to be made. */
function recipientFields(addressee: Addressee): Parameters<typeof mergeFields>[1] {
  const fields = 'fields' in addressee ? addressee.fields : {};
  const text = (name: string): string | null => (typeof fields[name] === 'string' ? fields[name] : null);
  return {
    firstname: text('firstname') ?? '',
    lastname: text('lastname') ?? '',
    email: text('email'),
    phone: text('phone'),
    company: text('company'),
    city: text('city'),
    state: text('state'),
    country_id: typeof fields['country_id'] === 'number' ? fields['country_id'] : null,
  };
}

/** Nothing was written. A key that another request has just used, or a contact just made, is found at the next look. */
async function onRefusal(context: Context, error: unknown, key: string | undefined, month: string): Promise<undefined> {
  if (isLimitViolation(error)) throw await limitRefusal(context.db.write, callerOf(context).tenant.id);
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

async function again(context: Context, input: SendInput, stored: unknown): Promise<MessageRow> {
  const { id, contact_created } = stored as SentResult;
  const [row] = await getMessages(context.db.write, callerOf(context).tenant.id, [id]);
  if (!row) throw notFound('Message');
  const message = { ...row, ...(contact_created !== undefined && { contact_created }) };
  return input.waitForAcceptance ? outcomeOf(message, message) : message;
}

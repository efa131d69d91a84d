import { setTimeout as sleep } from 'node:timers/promises';
import { asObject, asText, type JsonObject } from '../platform/json.ts';
import type { NextFault } from './faults.ts';
import { badParameter, graphError } from './graph-error.ts';
import { checkContacts, contentOf, MESSAGE_TYPES } from './message-types.ts';
import type { EmulatorNumber } from './options.ts';
import { type Recipient, readRecipient } from './recipient.ts';
import { json, type Reply, SUCCESS } from './reply.ts';
import { planStatuses, statusUpdate } from './statuses.ts';
import { checkTemplateSend } from './template-send.ts';
import type { AcceptedMessage, WebhookError } from './update.ts';
import { newWamid } from './wamid.ts';
import { windowKey } from './windows.ts';
import type { World } from './world.ts';

/** Longest `biz_opaque_callback_data` (Meta's message reference). */
const CALLBACK_DATA_MAX = 512;

/**
 * `POST /{phone_number_id}/messages`: validates and accepts a message, or marks one as read. Like the network, checks the request
 * first, then the limits. Whether the person can be reached is reported later by webhook.
 */
export async function postMessage(world: World, number: EmulatorNumber, body: JsonObject): Promise<Reply> {
  if (body['messaging_product'] !== 'whatsapp') throw badParameter('The parameter messaging_product is required.');
  if (body['status'] === 'read') return markRead(world, body);

  const recipient = readRecipient(world, number, body);
  const fault = world.faults.take(recipient.person);
  if (fault?.when === 'before') {
    const reply = await faultReply(fault);
    if (reply) return reply;
  }
  const content = checkContent(world, number, body, recipient);
  const { faults } = world;
  if (faults.current.throughputLimit && !world.throughput.take(number.phoneNumberId))
    throw graphError(130429, 'Cloud API message throughput has been reached.');
  if (faults.current.pairLimit && !world.pairs.take(windowKey(number.phoneNumberId, recipient.person))) {
    throw graphError(
      131056,
      'Too many messages sent from the sender phone number to the same recipient phone number in a short period of time.',
    );
  }

  const message: AcceptedMessage = {
    wamid: newWamid(recipient.person, 'outgoing'),
    phoneNumberId: number.phoneNumberId,
    wabaId: number.wabaId,
    to: recipient.input,
    waId: recipient.waId,
    userId: recipient.userId,
    type: content.type,
    body: content.text,
    content: contentOf(body, content.type),
    callbackData: asText(body['biz_opaque_callback_data']),
    ...contextOf(body),
    category: content.category,
    at: world.clock.now(),
    seq: world.nextSeq(),
    ...heldBy(world, number, recipient),
  };
  await accept(world, message, failureOf(world, message, recipient, content, fault));
  if (faults.current.latencyMs > 0) await sleep(faults.current.latencyMs);
  return (fault?.when === 'after' ? await faultReply(fault) : undefined) ?? json(200, answer(message, recipient));
}

/** The message that is quoted. A reaction names its message in its content. */
function contextOf(body: JsonObject): Pick<AcceptedMessage, 'replyTo'> {
  if (body['context'] === undefined) return {};
  const replyTo = asText(asObject(body['context'])?.['message_id']);
  if (replyTo === undefined) throw badParameter("The parameter context['message_id'] is required.");
  if (body['type'] === 'reaction') throw badParameter('Unexpected key "context" on param "reaction".');
  return { replyTo };
}

interface CheckedContent {
  readonly type: string;
  readonly text: string | undefined;
  readonly category: string;
  readonly link: string | undefined;
}

function checkContent(world: World, number: EmulatorNumber, body: JsonObject, recipient: Recipient): CheckedContent {
  const callbackData = body['biz_opaque_callback_data'];
  if (callbackData !== undefined && (typeof callbackData !== 'string' || callbackData.length > CALLBACK_DATA_MAX)) {
    throw badParameter(`Param biz_opaque_callback_data must be a string of at most ${CALLBACK_DATA_MAX} characters.`);
  }
  const kind = body['recipient_type'] ?? 'individual';
  if (kind !== 'individual') throw graphError(131009, 'recipient_type must be individual: the emulator has no groups');
  const type = body['type'] === undefined ? 'text' : asText(body['type']);
  const check = type === 'contacts' ? checkContacts : MESSAGE_TYPES.get(type ?? '');
  if (type === 'template') {
    const sent = checkTemplateSend(world.templates, number.wabaId, contentOf(body, type), recipient.byUserId);
    return { type, ...sent, link: undefined };
  }
  if (type === undefined || !check) throw graphError(131051, `Unsupported message type: ${String(body['type'])}`);
  const content = contentOf(body, type);
  const text = check(content, type);
  const mediaId = asText(content['id']);
  if (mediaId !== undefined && !world.media.get(mediaId)) {
    throw graphError(100, `Param ${type}['id'] is not a valid whatsapp business account media attachment ID`);
  }
  return { type, text, category: 'service', link: asText(content['link']) };
}

/** Stores the message and schedules its statuses. */
async function accept(world: World, message: AcceptedMessage, failure: WebhookError | undefined): Promise<void> {
  const { planned, delaysMs } = planStatuses(world, message, failure);
  world.record({ e: 'taken', m: message, plan: planned });
  world.sent.add(message);
  const [first, ...later] = planned.map((status, i) => ({
    update: statusUpdate(message, status),
    delayMs: delaysMs[i] ?? 0,
  }));
  for (const { update, delayMs } of later) world.outbox.add(update, delayMs);
  if (!first) return;
  if (world.faults.current.statusBeforeAnswer) await world.outbox.deliverNow(first.update);
  else world.outbox.add(first.update, first.delayMs);
}

/** The reason why the message does not reach the phone now, or ever. The network accepts such messages without an error. */
function heldBy(world: World, number: EmulatorNumber, { person }: Recipient): Pick<AcceptedMessage, 'held'> {
  if (world.phones.isBlocking(person, number.phoneNumberId)) return { held: 'blocked' };
  return world.phones.isOffline(person) ? { held: 'offline' } : {};
}

/** The error with which an accepted message will fail, if any. */
function failureOf(
  world: World,
  message: AcceptedMessage,
  recipient: Recipient,
  content: CheckedContent,
  fault: NextFault | undefined,
): WebhookError | undefined {
  const { asyncErrorCode, window } = world.faults.current;
  const forced = fault?.asyncErrorCode ?? asyncErrorCode;
  if (forced !== null) return { code: forced };
  const windowOpen = window === 'open' || world.windows.isOpen(windowKey(message.phoneNumberId, recipient.person));
  if (content.type !== 'template' && !windowOpen) return { code: 131047 };
  return mediaFailure(content);
}

/** The network fetches linked media after its response. The emulator decides by the file extension instead. */
function mediaFailure({ type, link }: CheckedContent): WebhookError | undefined {
  if (link === undefined || type === 'document' || !/\.(html?|php|txt)$/i.test(new URL(link).pathname))
    return undefined;
  const kind = type.charAt(0).toUpperCase() + type.slice(1);
  return { code: 131053, details: `Unsupported ${kind} mime type text/html` };
}

/** The response of a fault; undefined if it only delays the response. */
async function faultReply(fault: NextFault): Promise<Reply | undefined> {
  if (fault.latencyMs !== undefined) await sleep(fault.latencyMs);
  if (fault.timeout) return { kind: 'silence' };
  if (fault.reset) return { kind: 'reset' };
  if (fault.errorCode !== undefined) {
    throw graphError(
      fault.errorCode,
      undefined,
      fault.httpStatus === undefined ? {} : { httpStatus: fault.httpStatus },
    );
  }
  if (fault.httpStatus === undefined) return undefined;
  const body = `<html><body><h1>HTTP ${fault.httpStatus}</h1></body></html>`;
  return { kind: 'answer', status: fault.httpStatus, headers: { 'content-type': 'text/html' }, body };
}

function answer(message: AcceptedMessage, recipient: Recipient): JsonObject {
  const person = recipient.byUserId ? { user_id: recipient.userId } : { wa_id: recipient.waId };
  return {
    messaging_product: 'whatsapp',
    contacts: [{ input: recipient.input, ...person }],
    // As recorded: templates have the status, texts do not.
    messages: [{ id: message.wamid, ...(message.type === 'template' && { message_status: 'accepted' }) }],
  };
}

/** The body of a JSON request. */
export function jsonBody(bytes: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    value = undefined;
  }
  const body = asObject(value);
  if (!body) throw badParameter('The request body is not a JSON object.');
  return body;
}

/**
 * `{ status: "read", message_id, typing_indicator? }`: marks an inbound message and those before it from the same
 * person as read. The typing indicator (25 s or until a message is sent) has no effect in the emulator.
 */
function markRead(world: World, body: JsonObject): Reply {
  const wamid = asText(body['message_id']);
  if (wamid === undefined) throw badParameter('The parameter message_id is required.');
  const indicator = body['typing_indicator'];
  if (indicator !== undefined && asObject(indicator)?.['type'] !== 'text')
    throw badParameter("Param typing_indicator['type'] must be one of {TEXT}.");
  // Recorded failure, with this wording.
  if (world.sent.has(wamid)) throw graphError(100, `Message ${wamid} is outgoing. Please use an incoming message ID.`);
  const message = world.received.get(wamid);
  if (!message) throw graphError(131009, `Message ${wamid} does not exist`);
  for (const earlier of world.received.values()) {
    if (earlier.from === message.from && earlier.at <= message.at) earlier.read = true;
  }
  return json(200, SUCCESS);
}

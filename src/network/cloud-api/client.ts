import { Pool } from 'undici';
import { SECOND } from '../../platform/clock.ts';
import { asList, asObject, asText, type JsonObject, parseJson } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import {
  type ChannelCredentials,
  type Network,
  NetworkCallError,
  type OutgoingContent,
  type OutgoingMessage,
  type PhoneNumberInfo,
  type SendOutcome,
} from '../network.ts';
import { foreignAnswer, toNetworkError } from './errors.ts';
import { type Answer, type ExchangeRequest, exchange } from './exchange.ts';
import { createMediaCalls } from './media.ts';
import { createTemplateCalls } from './templates.ts';

export interface CloudApiOptions {
  /** Where the Graph API answers: `https://graph.facebook.com`, or an emulator. A path in it is kept as a prefix. */
  readonly baseUrl: string;
  /** Graph API version, `v24.0` unless told. */
  readonly version?: string;
  readonly log: Log;
  /** `connectMs` (default 5 s) for TCP and TLS; `requestMs` (default 20 s) for the whole exchange, waiting included. */
  readonly timeouts?: { readonly connectMs?: number; readonly requestMs?: number };
  /** Kept-alive connections, 64 unless told: at 80 messages a second and 250 ms an answer one number keeps 20 busy. */
  readonly connections?: number;
}

const DEFAULT_VERSION = 'v24.0';
const PHONE_NUMBER_FIELDS = 'display_phone_number,verified_name,quality_rating';

/** The network over HTTP: Meta's Graph API, or the emulator that speaks like it. Opens no connection before the first call. */
export function createCloudApiNetwork(options: CloudApiOptions): Network {
  const base = new URL(options.baseUrl);
  const prefix = `${base.pathname.replace(/\/$/, '')}/${options.version ?? DEFAULT_VERSION}`;
  const timeoutMs = options.timeouts?.requestMs ?? 20 * SECOND;
  const connectMs = options.timeouts?.connectMs ?? 5 * SECOND;
  const pool = new Pool(base.origin, {
    connections: options.connections ?? 64,
    pipelining: 1,
    // One request a connection, so that a connection that breaks puts one send in doubt; over HTTP/2 it would be a hundred.
    allowH2: false,
    connect: { timeout: connectMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // Shorter than what servers keep: writing on a connection that the other side is closing puts a send in doubt.
    keepAliveTimeout: 4 * SECOND,
    keepAliveMaxTimeout: 60 * SECOND,
  });

  function request(
    channel: ChannelCredentials,
    method: ExchangeRequest['method'],
    path: string,
    body?: JsonObject,
  ): ExchangeRequest {
    const headers: Record<string, string> = {
      authorization: `Bearer ${channel.accessToken}`,
      accept: 'application/json',
    };
    if (body) headers['content-type'] = 'application/json';
    return { method, path: `${prefix}/${path}`, headers, timeoutMs, ...(body && { body: JSON.stringify(body) }) };
  }

  const messagesPath = (channel: ChannelCredentials) => `${encodeURIComponent(channel.phoneNumberId)}/messages`;

  /** A call that has to succeed: the parsed body, or a `NetworkCallError`. */
  async function call(what: string, pending: ExchangeRequest): Promise<JsonObject> {
    const result = await exchange(pool, pending);
    if (!result.answer) throw new NetworkCallError(`${what}: ${result.reason}`);
    const body = parseJson(result.answer.body);
    const error = toNetworkError(body, result.answer.headers);
    if (error) throw new NetworkCallError(`${what}: ${error.code} ${error.title}`, error);
    const fields = asObject(body);
    if (result.answer.status !== 200 || !fields)
      throw new NetworkCallError(`${what}: unexpected answer, HTTP ${result.answer.status}`);
    return fields;
  }

  const { close: closeMedia, ...media } = createMediaCalls({
    origin: base.origin,
    prefix,
    connectMs,
    call: (what, channel, path) => call(what, request(channel, 'GET', path)),
  });

  return {
    ...media,

    async send(channel, message) {
      const result = await exchange(pool, request(channel, 'POST', messagesPath(channel), messageBody(message)));
      const outcome: SendOutcome = result.answer
        ? sendOutcome(result.answer)
        : { kind: result.written ? 'in_doubt' : 'unsent', reason: result.reason };
      if (outcome.kind === 'in_doubt' || outcome.kind === 'unsent') {
        options.log.warn(
          { outcome: outcome.kind, reason: outcome.reason, callbackData: message.callbackData },
          'send not answered',
        );
      }
      return outcome;
    },

    async markRead(channel, wamid) {
      const body = { messaging_product: 'whatsapp', status: 'read', message_id: wamid };
      await call('mark read', request(channel, 'POST', messagesPath(channel), body));
    },

    async phoneNumber(channel) {
      const id = encodeURIComponent(channel.phoneNumberId);
      const fields = await call('phone number', request(channel, 'GET', `${id}?fields=${PHONE_NUMBER_FIELDS}`));
      const info: PhoneNumberInfo = {
        id: asText(fields['id']) ?? channel.phoneNumberId,
        displayPhoneNumber: asText(fields['display_phone_number']) ?? '',
        verifiedName: asText(fields['verified_name']) ?? '',
        qualityRating: asText(fields['quality_rating']) ?? null,
      };
      return info;
    },

    ...createTemplateCalls((channel, method, path, body) => call('templates', request(channel, method, path, body))),

    // Whoever closes has waited for answers as long as he could: a silent network must not hold the process.
    async close() {
      await Promise.all([pool.destroy(), closeMedia()]);
    },
  };
}

/** The body of `POST /{phone_number_id}/messages`. */
export function messageBody(message: OutgoingMessage): JsonObject {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // Since 2026-05 a person without a visible number is addressed by `recipient`; where both stand, `to` would win.
    ...(message.to.startsWith('+') ? { to: message.to } : { recipient: message.to }),
    ...(message.replyTo !== undefined && { context: { message_id: message.replyTo } }),
    ...contentBody(message.content),
    biz_opaque_callback_data: message.callbackData,
  };
}

function contentBody(content: OutgoingContent): JsonObject {
  return content.type === 'text'
    ? { type: 'text', text: { preview_url: content.previewUrl, body: content.text } }
    : { type: content.type, [content.type]: content.object };
}

/**
 * What an answer says about a send. Only two kinds of answer settle it: a message id, and an error that the network
 * stands by. A 5xx does not, because the message may have been taken before something behind it broke, unless its code
 * is terminal (those are found by checking the request, before it is taken). A 200 without an id does not either.
 */
export function sendOutcome(answer: Answer): SendOutcome {
  const body = parseJson(answer.body);
  const settles = answer.status >= 300 && answer.status < 500 && answer.status !== 408;
  const error = toNetworkError(body, answer.headers);
  if (error) {
    const mayPass = error.retryClass === 'retry_backoff' || error.retryClass === 'retry_after_wait';
    if (settles || !mayPass) return { kind: 'refused', error };
    return { kind: 'in_doubt', reason: `HTTP ${answer.status}, error ${error.code}` };
  }
  if (settles) return { kind: 'refused', error: foreignAnswer(answer.status) };
  const fields = asObject(body);
  const wamid = asText(asObject(asList(fields?.['messages'])[0])?.['id']);
  if (answer.status !== 200 || wamid === undefined)
    return { kind: 'in_doubt', reason: `HTTP ${answer.status} without a message id` };
  const contact = asObject(asList(fields?.['contacts'])[0]);
  const waId = asText(contact?.['wa_id'])?.trim(); // Meta's own samples carry a trailing space.
  const userId = asText(contact?.['user_id']);
  return { kind: 'accepted', wamid, ...(waId && { waId }), ...(userId !== undefined && { userId }) };
}

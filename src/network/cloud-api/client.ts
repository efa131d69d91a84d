import { Pool } from 'undici';
import { SECOND } from '../../platform/clock.ts';
import { type Exchange, type ExchangeRequest, exchange, type HttpResponse } from '../../platform/http-exchange.ts';
import { asId, asList, asObject, asText, type JsonObject, parseStorable } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import {
  type ChannelCredentials,
  isRetryable,
  type Network,
  NetworkCallError,
  type OutgoingContent,
  type OutgoingMessage,
  type PhoneNumberInfo,
  type SendOutcome,
} from '../network.ts';
import { foreignResponse, toNetworkError } from './errors.ts';
import { readUserId, readWaId } from './identity.ts';
import { createMediaCalls } from './media.ts';
import { HEALTH_QUERY, readNumberHealth } from './number-health.ts';
import { createTemplateCalls } from './templates.ts';

export interface CloudApiOptions {
  /** Base URL of the Graph API: `https://graph.facebook.com`, or an emulator. Its path is used as a prefix. */
  readonly baseUrl: string;
  /** Graph API version; default `v24.0`. */
  readonly version?: string;
  readonly log: Log;
  /** `connectMs` (default 5 s): TCP and TLS; `requestMs` (default 20 s): the whole exchange, including waits. */
  readonly timeouts?: { readonly connectMs?: number; readonly requestMs?: number };
  /** Maximum number of connections; default 320, opened as needed. At 300 messages a second and 250 ms each, one number keeps 75 busy. */
  readonly connections?: number;
}

const DEFAULT_VERSION = 'v24.0';
/** The network's responses are a few kilobytes; more is not from the network. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const PHONE_NUMBER_FIELDS = 'display_phone_number,verified_name,quality_rating';

/** The network over HTTP: Meta's Graph API or the emulator. Opens no connection before the first call. */
export function createCloudApiNetwork(options: CloudApiOptions): Network {
  const base = new URL(options.baseUrl);
  const prefix = `${base.pathname.replace(/\/$/, '')}/${options.version ?? DEFAULT_VERSION}`;
  const timeoutMs = options.timeouts?.requestMs ?? 20 * SECOND;
  const connectMs = options.timeouts?.connectMs ?? 5 * SECOND;
  const pool = new Pool(base.origin, {
    connections: options.connections ?? 320,
    pipelining: 1,
    // HTTP/1.1 without pipelining: a broken connection leaves one send in doubt; with HTTP/2 it could be a hundred.
    allowH2: false,
    connect: { timeout: connectMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // Shorter than the keep-alive of servers: a write to a connection that is being closed leaves a send in doubt.
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
    return {
      method,
      path: `${prefix}/${path}`,
      headers,
      timeoutMs,
      maxBytes: MAX_RESPONSE_BYTES,
      ...(body && { body: JSON.stringify(body) }),
    };
  }

  const messagesPath = (channel: ChannelCredentials) => `${encodeURIComponent(channel.phoneNumberId)}/messages`;

  /** Returns the parsed body. @throws NetworkCallError */
  async function call(what: string, pending: ExchangeRequest): Promise<JsonObject> {
    const result = await exchangeWhole(pool, pending);
    if (!result.answer) throw new NetworkCallError(`${what}: ${result.reason}`);
    const body = parseStorable(result.answer.body.toString('utf8'));
    const error = toNetworkError(body, result.answer.headers);
    if (error) throw new NetworkCallError(`${what}: ${error.code} ${error.title}`, error);
    const fields = asObject(body);
    if (result.answer.status !== 200 || !fields)
      throw new NetworkCallError(`${what}: unexpected response, HTTP ${result.answer.status}`);
    return fields;
  }

  const { close: closeMedia, ...media } = createMediaCalls({
    origin: base.origin,
    prefix,
    connectMs,
    call: (what, channel, path, method = 'GET') => call(what, request(channel, method, path)),
  });

  return {
    ...media,

    async send(channel, message, mayCall) {
      const pending = request(channel, 'POST', messagesPath(channel), messageBody(message));
      const result = await exchangeWhole(pool, { ...pending, mayCall });
      if (!result.answer && result.isWithheld) return { kind: 'withheld' };
      const outcome: SendOutcome = result.answer
        ? sendOutcome(result.answer)
        : { kind: result.isWritten ? 'in_doubt' : 'unsent', reason: result.reason };
      if (outcome.kind === 'in_doubt' || outcome.kind === 'unsent') {
        options.log.warn(
          { outcome: outcome.kind, reason: outcome.reason, callbackData: message.callbackData },
          'no usable response to a send',
        );
      }
      return outcome;
    },

    async markRead(channel, wamid, { showTyping } = { showTyping: false }) {
      const typing = showTyping ? { typing_indicator: { type: 'text' } } : {};
      const body = { messaging_product: 'whatsapp', status: 'read', message_id: wamid, ...typing };
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

    async numberHealth(channel) {
      const path = `${encodeURIComponent(channel.phoneNumberId)}?fields=${HEALTH_QUERY}`;
      return readNumberHealth(await call('health of the number', request(channel, 'GET', path)));
    },

    async portfolio(channel) {
      const path = `${encodeURIComponent(channel.wabaId)}?fields=owner_business_info`;
      const fields = await call('business account', request(channel, 'GET', path)).catch((error: unknown) => {
        if (!(error instanceof NetworkCallError) || !error.error || isRetryable(error.error)) throw error;
        // For accounts of other businesses it needs Advanced access (otherwise error 200); nothing else does.
        options.log.warn(
          { wabaId: channel.wabaId, reason: error.message },
          'the token may not read the owner of a business account',
        );
        return {};
      });
      return asId(asObject((fields as JsonObject)['owner_business_info'])?.['id']);
    },

    ...createTemplateCalls((channel, method, path, body) => call('templates', request(channel, method, path, body))),

    // Pending calls have had their time to finish: an unresponsive network must not keep the process alive.
    async close() {
      await Promise.all([pool.destroy(), closeMedia()]);
    },
  };
}

/** Like `exchange`; a truncated response counts as none. */
async function exchangeWhole(pool: Pool, request: ExchangeRequest): Promise<Exchange> {
  const result = await exchange(pool, request);
  return result.answer?.isTruncated
    ? { answer: undefined, isWritten: true, isWithheld: false, isTimedOut: false, reason: 'the response is too large' }
    : result;
}

/** The body of `POST /{phone_number_id}/messages`. */
export function messageBody(message: OutgoingMessage): JsonObject {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // Since 2026-05 a person without a visible number is addressed by `recipient`; if both are given, `to` takes precedence.
    ...(message.to.startsWith('+') ? { to: message.to } : { recipient: message.to }),
    ...(message.replyTo !== undefined && { context: { message_id: message.replyTo } }),
    ...contentBody(message.content),
    biz_opaque_callback_data: message.callbackData,
  };
}

function contentBody(content: OutgoingContent): JsonObject {
  if (content.type === 'contacts') return { type: 'contacts', contacts: content.cards };
  return content.type === 'text'
    ? { type: 'text', text: { preview_url: content.previewUrl, body: content.text } }
    : { type: content.type, [content.type]: content.object };
}

/**
 * The outcome of a send by its response. Only a message id or an error of the network settles it. A 5xx does not, because the message
 * may have been accepted before the failure, unless the code is terminal (such codes come from validation). A 200 without an id does
 * not either.
 */
export function sendOutcome(answer: HttpResponse): SendOutcome {
  const body = parseStorable(answer.body.toString('utf8'));
  const settles = answer.status >= 300 && answer.status < 500 && answer.status !== 408;
  const error = toNetworkError(body, answer.headers);
  if (error) {
    if (settles || !isRetryable(error)) return { kind: 'refused', error };
    return { kind: 'in_doubt', reason: `HTTP ${answer.status}, error ${error.code}` };
  }
  if (settles) return { kind: 'refused', error: foreignResponse(answer.status) };
  const fields = asObject(body);
  const wamid = asText(asObject(asList(fields?.['messages'])[0])?.['id']);
  if (answer.status !== 200 || wamid === undefined)
    return { kind: 'in_doubt', reason: `HTTP ${answer.status} without a message id` };
  const contact = asObject(asList(fields?.['contacts'])[0]);
  const waId = readWaId(contact?.['wa_id']);
  const userId = readUserId(contact?.['user_id']);
  return {
    kind: 'accepted',
    wamid,
    ...(waId !== undefined && { waId }),
    ...(userId !== undefined && { userId }),
  };
}

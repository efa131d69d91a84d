import { ERROR_CODES } from '../network/cloud-api/error-codes.ts';
import type { JsonObject } from '../platform/json.ts';
import type { EmulatorNumber } from './options.ts';
import { type Update, type WebhookError, wabaOf } from './update.ts';

/** Grouping of updates in a POST: `grouped` uses as few entries and changes as possible, `spread` one change per update and an entry per two. */
export type Grouping = 'grouped' | 'spread' | 'single';

export interface BodyOptions {
  readonly grouping: Grouping;
  /** Escapes JSON like the network (`\/` and `\uXXXX`): a receiver that verifies the signature over re-serialized JSON fails. */
  readonly escape: boolean;
  readonly userIds: boolean;
  number(phoneNumberId: string): EmulatorNumber | undefined;
}

/** The bytes of one webhook POST, which are signed. */
export function webhookBody(updates: readonly Update[], options: BodyOptions): Buffer {
  const changes =
    options.grouping === 'grouped'
      ? groupedChanges(updates, options)
      : updates.map(u => ({ wabaId: wabaOf(u), change: change([u], options) }));
  const entries: { id: string; changes: JsonObject[] }[] = [];
  for (const { wabaId, change: body } of changes) {
    const last = entries.at(-1);
    const roomFor = options.grouping === 'grouped' ? Number.POSITIVE_INFINITY : 2;
    if (last && last.id === wabaId && last.changes.length < roomFor) last.changes.push(body);
    else entries.push({ id: wabaId, changes: [body] });
  }
  const text = JSON.stringify({ object: 'whatsapp_business_account', entry: entries });
  return Buffer.from(options.escape ? escaped(text) : text, 'utf8');
}

/** One change for the statuses and one for the messages of each number, all other changes separately; entries sorted by account. */
function groupedChanges(updates: readonly Update[], options: BodyOptions): { wabaId: string; change: JsonObject }[] {
  const groups = new Map<string, Update[]>();
  for (const update of updates) {
    const number =
      update.kind === 'change'
        ? update.seq
        : update.kind === 'status'
          ? update.message.phoneNumberId
          : update.phoneNumberId;
    const key = `${wabaOf(update)} ${update.kind} ${number}`;
    const group = groups.get(key);
    if (group) group.push(update);
    else groups.set(key, [update]);
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, group]) => (group[0] ? [{ wabaId: wabaOf(group[0]), change: change(group, options) }] : []));
}

/** One change for updates of one kind and one number. */
function change(updates: readonly Update[], options: BodyOptions): JsonObject {
  const first = updates[0];
  if (first?.kind === 'change') return { value: first.value, field: first.field };
  const phoneNumberId = first?.kind === 'status' ? first.message.phoneNumberId : (first?.phoneNumberId ?? '');
  const metadata = {
    display_phone_number: options.number(phoneNumberId)?.displayPhoneNumber.replace(/\D/g, '') ?? '',
    phone_number_id: phoneNumberId,
  };
  const contacts: JsonObject[] = [];
  const statuses: JsonObject[] = [];
  const messages: JsonObject[] = [];
  const seen = new Set<string>();
  for (const update of updates) {
    if (update.kind === 'status') {
      statuses.push(statusObject(update, options.userIds));
      const { waId, userId } = update.message;
      const person = waId ?? userId ?? '';
      // Failed statuses come without contacts.
      if (update.status === 'failed' || seen.has(person)) continue;
      seen.add(person);
      contacts.push({ ...(waId && { wa_id: waId }), ...(options.userIds && userId && { user_id: userId }) });
    } else if (update.kind === 'message') {
      messages.push(update.message);
      const key = JSON.stringify(update.contact ?? null);
      if (!update.contact || seen.has(key)) continue;
      seen.add(key);
      contacts.push(update.contact);
    }
  }
  const value = {
    messaging_product: 'whatsapp',
    metadata,
    ...(contacts.length > 0 && { contacts }),
    ...(statuses.length > 0 && { statuses }),
    ...(messages.length > 0 && { messages }),
  };
  return { value, field: 'messages' };
}

function statusObject(update: Update & { kind: 'status' }, userIds: boolean): JsonObject {
  const { message, status, error, at } = update;
  const free = message.category === 'service';
  return {
    id: message.wamid,
    status,
    timestamp: String(Math.floor(at / 1_000)),
    ...(message.waId && { recipient_id: message.waId }),
    ...(userIds && message.userId && { recipient_user_id: message.userId }),
    // Once per message, with the first status (since v24 without `conversation`).
    ...(status === 'sent' && {
      pricing: {
        billable: !free,
        pricing_model: 'PMP',
        type: free ? 'free_customer_service' : 'regular',
        category: message.category,
      },
    }),
    ...(message.callbackData !== undefined && { biz_opaque_callback_data: message.callbackData }),
    ...(error && { errors: [wireError(error)] }),
  };
}

/** Details in the wording of webhooks, which differs from the error page. */
const WIRE_DETAILS: Readonly<Record<number, string>> = {
  131026: 'Message undeliverable.',
  131047:
    'Message failed to send because more than 24 hours have passed since the customer last replied to this number.',
  131049: 'In order to maintain a healthy ecosystem engagement, the message failed to be delivered.',
  131053: 'Unable to upload the media used in the message.',
};

function wireError(error: WebhookError): JsonObject {
  const title = ERROR_CODES.get(error.code)?.title ?? 'Unknown error';
  return {
    code: error.code,
    title,
    message: title,
    error_data: { details: error.details ?? WIRE_DETAILS[error.code] ?? `${title}.` },
    href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
  };
}

function escaped(text: string): string {
  return text.replace(/[/\u007f-\uffff]/g, character =>
    character === '/' ? '\\/' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

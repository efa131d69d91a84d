import { asText, type JsonObject } from '../platform/json.ts';
import { badParameter, graphError } from './graph-error.ts';
import { DEFAULT_PORTFOLIO, type EmulatorNumber, portfolioOf } from './options.ts';
import { json, type Reply, type Request, SUCCESS } from './reply.ts';
import { verifyWebhook } from './verify-webhook.ts';
import { numbersOf, subscriptionOf, type World } from './world.ts';

const DEFAULT_FIELDS = ['verified_name', 'display_phone_number', 'quality_rating', 'id'];
const DEFAULT_ACCOUNT_FIELDS = ['id', 'name', 'timezone_id', 'message_template_namespace'];
const APP = {
  id: '1000000000000001',
  name: 'Emulated app',
  link: 'https://www.facebook.com/games/?app_id=1000000000000001',
};

/** `GET /{phone_number_id}?fields=`; always includes `id`. */
export const showNumber = (request: Request, number: EmulatorNumber): Reply =>
  fieldsOf(request, numberObject(number), DEFAULT_FIELDS, 'WhatsAppBusinessPhoneNumber');

/** `GET /{waba}?fields=`. The owner of the account is returned only if requested and permitted. */
export function showAccount(world: World, request: Request, wabaId: string): Reply {
  const portfolioId = numbersOf(world, wabaId).map(portfolioOf)[0] ?? DEFAULT_PORTFOLIO;
  const account = {
    id: wabaId,
    name: 'Emulated business',
    timezone_id: '1',
    message_template_namespace: 'emulated',
    owner_business_info: { name: 'Emulated portfolio', id: portfolioId },
  };
  const isOwnerRequested = request.query.get('fields')?.split(',').includes('owner_business_info') === true;
  if (isOwnerRequested && !world.faults.current.ownerInfo)
    throw graphError(200, undefined, { message: '(#200) You do not have the necessary permissions.' });
  return fieldsOf(request, account, DEFAULT_ACCOUNT_FIELDS, 'WhatsAppBusinessAccount');
}

function fieldsOf(request: Request, object: JsonObject, defaults: readonly string[], type: string): Reply {
  const fields = request.query.get('fields')?.split(',') ?? defaults;
  const unknown = fields.find(field => !Object.hasOwn(object, field));
  if (unknown !== undefined) {
    throw badParameter(`Tried accessing nonexisting field (${unknown}) on node type (${type})`);
  }
  return json(200, Object.fromEntries([...new Set([...fields, 'id'])].map(field => [field, object[field]])));
}

/** `GET /{waba}/phone_numbers`. */
export function listNumbers(world: World, wabaId: string): Reply {
  const data = numbersOf(world, wabaId).map(numberObject);
  if (data.length === 0) return json(200, { data });
  const cursor = (number: JsonObject | undefined) => Buffer.from(asText(number?.['id']) ?? '').toString('base64');
  return json(200, { data, paging: { cursors: { before: cursor(data[0]), after: cursor(data.at(-1)) } } });
}

export function showSubscriptions(world: World, wabaId: string): Reply {
  const { subscribed, override } = subscriptionOf(world, wabaId);
  const entry = { whatsapp_business_api_data: APP, ...(override !== undefined && { override_callback_uri: override }) };
  return json(200, { data: subscribed ? [entry] : [] });
}

/** `POST /{waba}/subscribed_apps`, optionally with a URL for this account (`override_callback_uri`, `verify_token`), which is verified first. */
export async function subscribe(world: World, wabaId: string, body: JsonObject): Promise<Reply> {
  const subscription = subscriptionOf(world, wabaId);
  const override = asText(body['override_callback_uri']);
  if (override !== undefined && !(await verifyWebhook(override, asText(body['verify_token']) ?? ''))) {
    throw badParameter('(#2200) Callback verification failed: the URL did not respond with the challenge.');
  }
  subscription.subscribed = true;
  subscription.override = override;
  world.outbox.wake();
  return json(200, SUCCESS);
}

export function unsubscribe(world: World, wabaId: string): Reply {
  subscriptionOf(world, wabaId).subscribed = false;
  return json(200, SUCCESS);
}

function numberObject(number: EmulatorNumber): JsonObject {
  return {
    id: number.phoneNumberId,
    display_phone_number: number.displayPhoneNumber,
    verified_name: number.verifiedName,
    quality_rating: number.health?.quality ?? 'GREEN',
    name_status: 'APPROVED',
    code_verification_status: 'VERIFIED',
    platform_type: 'CLOUD_API',
    status: 'CONNECTED',
    throughput: { level: 'STANDARD' },
    messaging_limit_tier: number.health?.messagingLimit ?? 'TIER_UNLIMITED',
    whatsapp_business_manager_messaging_limit: number.health?.messagingLimit ?? 'TIER_UNLIMITED',
    health_status: healthStatus(number),
    account_mode: 'SANDBOX',
  };
}

/** The overall health is the worst of the number, its account and the app. */
function healthStatus({ phoneNumberId, wabaId, health }: EmulatorNumber): JsonObject {
  const canSend = health?.canSend ?? 'AVAILABLE';
  const error = {
    error_code: 141_000,
    error_description: 'The phone number is not registered.',
    possible_solution: 'Register the phone number.',
  };
  return {
    can_send_message: canSend,
    entities: [
      {
        entity_type: 'PHONE_NUMBER',
        id: phoneNumberId,
        can_send_message: canSend,
        ...(canSend === 'BLOCKED' && { errors: [error] }),
        ...(canSend === 'LIMITED' && { additional_info: ['Your display name has not been approved yet.'] }),
      },
      { entity_type: 'WABA', id: wabaId, can_send_message: 'AVAILABLE' },
      { entity_type: 'APP', id: APP.id, can_send_message: 'AVAILABLE' },
    ],
  };
}

import { beginExample, receiveExample } from './examples.ts';
import { badParameter, badToken, graphError, unknownObject } from './graph-error.ts';
import { deleteMedia, downloadMedia, showMedia, uploadMedia } from './media.ts';
import { jsonBody, postMessage } from './messages.ts';
import { listNumbers, showAccount, showNumber, showSubscriptions, subscribe, unsubscribe } from './numbers.ts';
import type { EmulatorNumber } from './options.ts';
import { bearerToken, json, type Reply, type Request } from './reply.ts';
import { templateObject } from './template-store.ts';
import { createTemplate, deleteTemplate, editTemplate, listTemplates } from './templates.ts';
import type { World } from './world.ts';

/**
 * The Graph API: `/{version}/{object id}/{edge}`. The id alone decides whether the object is a business number, a business account, a
 * medium or a template. Objects that the token may not see do not exist.
 *
 * @throws GraphError
 */
export async function graph(world: World, request: Request): Promise<Reply> {
  const [version, id, edge, ...rest] = request.path;
  if (version === 'whatsapp_business' && id === 'attachments') return downloadMedia(world, request);
  if (version === undefined || !/^v\d+\.\d+$/.test(version) || id === undefined || rest.length > 0) {
    throw graphError(2500, undefined, { message: `Unknown path components: /${request.path.slice(1).join('/')}` });
  }
  const token = bearerToken(request);
  const numbers = [...world.numbers.values()].filter(number => number.accessToken === token);
  if (token === undefined || numbers.length === 0) throw badToken(token !== undefined);
  const wabaIds = new Set(numbers.map(number => number.wabaId));

  if (request.method === 'POST' && id === 'app' && edge === 'uploads') return beginExample(request);
  if (request.method === 'POST' && id.startsWith('upload:') && edge === undefined) return receiveExample(request, id);
  const number = world.numbers.get(id);
  if (number && wabaIds.has(number.wabaId)) return numberEdge(world, request, number, edge);
  if (wabaIds.has(id)) return withUsage(world, id, await accountEdge(world, request, id, edge));
  const media = world.media.get(id);
  if (media && edge === undefined && wabaIds.has(world.numbers.get(media.phoneNumberId)?.wabaId ?? '')) {
    if (request.method === 'GET') return showMedia(world, request, media);
    if (request.method === 'DELETE') return deleteMedia(world, media);
  }
  const template = world.templates.get(id);
  if (template && edge === undefined && wabaIds.has(template.wabaId)) {
    if (request.method === 'GET') return json(200, templateObject(template));
    if (request.method === 'POST') return editTemplate(world, template, jsonBody(request.body));
  }
  throw unknownObject(request.method, id);
}

async function numberEdge(
  world: World,
  request: Request,
  number: EmulatorNumber,
  edge: string | undefined,
): Promise<Reply> {
  switch (`${request.method} ${edge ?? ''}`) {
    case 'POST messages':
      return postMessage(world, number, jsonBody(request.body));
    case 'POST media':
      return uploadMedia(world, number, request);
    case 'GET ':
      return showNumber(request, number);
    default:
      throw edge === undefined ? unknownObject(request.method, number.phoneNumberId) : unknownEdge(edge);
  }
}

async function accountEdge(world: World, request: Request, wabaId: string, edge: string | undefined): Promise<Reply> {
  switch (`${request.method} ${edge ?? ''}`) {
    case 'GET message_templates':
      return listTemplates(world, request, wabaId);
    case 'POST message_templates':
      return createTemplate(world, wabaId, jsonBody(request.body));
    case 'DELETE message_templates':
      return deleteTemplate(world, request, wabaId);
    case 'GET phone_numbers':
      return listNumbers(world, wabaId);
    case 'GET subscribed_apps':
      return showSubscriptions(world, wabaId);
    case 'POST subscribed_apps':
      return subscribe(world, wabaId, request.body.length > 0 ? jsonBody(request.body) : {});
    case 'DELETE subscribed_apps':
      return unsubscribe(world, wabaId);
    case 'GET ':
      return showAccount(world, request, wabaId);
    default:
      throw edge === undefined ? unknownObject(request.method, wabaId) : unknownEdge(edge);
  }
}

function unknownEdge(edge: string): Error {
  return badParameter(`Tried accessing nonexisting field (${edge})`);
}

/** Adds the usage header, which every response about a business account has, including rejected sends (server.ts). */
function withUsage(world: World, wabaId: string, reply: Reply): Reply {
  return reply.kind === 'answer' ? { ...reply, headers: { ...reply.headers, ...usageHeader(world, wabaId) } } : reply;
}

/** `X-Business-Use-Case-Usage`; minutes until access is regained, as Meta documents the field. */
export function usageHeader(world: World, wabaId: string): Record<string, string> {
  const usage = {
    type: 'whatsapp_business_management',
    call_count: 1,
    total_cputime: 1,
    total_time: 1,
    estimated_time_to_regain_access: world.faults.current.regainAccessMinutes,
  };
  return { 'x-business-use-case-usage': JSON.stringify({ [wabaId]: [usage] }) };
}

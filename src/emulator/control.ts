import { z } from 'zod';
import { HOUR } from '../platform/clock.ts';
import { chatOf } from './chat.ts';
import { ControlError, numberFor, personKey, readInput, sendChange } from './control-input.ts';
import { faultsPatch } from './faults.ts';
import { receive } from './inbound.ts';
import { inboundInput } from './inbound-input.ts';
import type { EmulatorNumber } from './options.ts';
import { phoneState, postGroup, postPhone } from './phone-control.ts';
import { json, type Reply, type Request } from './reply.ts';
import { TEMPLATE_STATUSES } from './template-store.ts';
import { setTemplateStatus } from './templates.ts';
import { verifyWebhook } from './verify-webhook.ts';
import { windowKey } from './windows.ts';
import type { World } from './world.ts';

interface Route {
  readonly description: string;
  readonly handle: (world: World, request: Request) => Reply | Promise<Reply>;
}

const windowInput = z.strictObject({
  phone: z.string().min(1),
  open: z.boolean().optional(),
  /** End of the window. Default with `open: true`: in 24 h. */
  expiresAt: z.iso.datetime({ offset: true }).optional(),
  phoneNumberId: z.string().optional(),
});
const webhookUrlInput = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).nullable(),
  verify: z.boolean().optional(),
});
const templateInput = z.strictObject({
  id: z.string().optional(),
  name: z.string().optional(),
  language: z.string().optional(),
  status: z.enum(TEMPLATE_STATUSES),
  reason: z.string().optional(),
});
/** Any webhook change, also of unknown fields. The number's `metadata` is added if absent, unless an entry is given. */
const changeInput = z.strictObject({
  field: z.string().min(1),
  value: z.record(z.string(), z.unknown()),
  phoneNumberId: z.string().optional(),
  /** Id of the entry: a business account or portfolio. Default: the account of the number. */
  entryId: z.string().optional(),
});
const timeInput = z.strictObject({ passedHours: z.number().positive().max(1_000) });

const numberInput = z.strictObject({
  phoneNumberId: z.string().regex(/^\d+$/, 'must be digits'),
  wabaId: z.string().regex(/^\d+$/, 'must be digits'),
  displayPhoneNumber: z.string().regex(/^\+[\d ()-]+$/, 'must be a number with its plus'),
  verifiedName: z.string().min(1),
  accessToken: z.string().min(1),
  messagesPerSecond: z.number().positive().optional(),
  portfolioId: z.string().regex(/^\d+$/, 'must be digits').optional(),
  health: z
    .strictObject({
      canSend: z.enum(['AVAILABLE', 'LIMITED', 'BLOCKED']).optional(),
      quality: z.enum(['GREEN', 'YELLOW', 'RED', 'UNKNOWN']).optional(),
      messagingLimit: z.string().optional(),
    })
    .optional(),
});

/** The control API for persons and tests. It has no authentication; never expose it. */
const ROUTES: Readonly<Record<string, Route>> = {
  'GET ': {
    description: 'this list',
    handle: () =>
      json(200, {
        routes: Object.fromEntries(
          Object.entries(ROUTES).map(([key, { description }]) => [key.replace(' ', ' /_emulator/'), description]),
        ),
      }),
  },
  'POST inbound': {
    description: 'sends a message from a person: { from, text, profileName } or another type; returns { wamid }',
    handle: postInbound,
  },
  'POST changes': {
    description:
      '{ field, value, phoneNumberId?, entryId? }: sends any webhook change, such as calls, history or account_update',
    handle: postChange,
  },
  'GET inbound': {
    description: 'inbound messages, and whether they were marked as read',
    handle: world =>
      json(200, {
        messages: [...world.received].map(([wamid, { message: _body, seq: _seq, ...m }]) => ({
          wamid,
          ...m,
          at: new Date(m.at).toISOString(),
        })),
      }),
  },
  'GET chat': {
    description:
      '?person=&phoneNumberId=&groupId=: the chat of a person with a number, or of a group, and the state of the phone',
    handle: getChat,
  },
  'POST phones': {
    description:
      '{ phone, isOffline?, isBlocking?, phoneNumberId? }: takes a phone offline or back online, blocks or unblocks the business number',
    handle: postPhone,
  },
  'POST groups': {
    description:
      '{ phone, groupId, subject?, phoneNumberId? }: the person joins a group chat; the first one creates it',
    handle: postGroup,
  },
  'GET media': { description: '?id=: the content of a file', handle: getMedia },
  'POST time': {
    description: '{ passedHours }: simulates that so many hours have passed: service windows end that much earlier',
    handle: postTime,
  },
  'GET faults': { description: 'current faults and traits', handle: world => json(200, { ...world.faults.current }) },
  'POST faults': { description: 'merges into faults and traits; `next` is appended', handle: postFaults },
  'DELETE faults': {
    description: 'restores the initial faults and traits',
    handle: world => {
      world.faults.reset();
      return json(200, { ...world.faults.current });
    },
  },
  'GET sent': {
    description: 'accepted messages: ?limit= ?to= ?callbackData=; counts cover all messages',
    handle: getSent,
  },
  'DELETE sent': {
    description: 'clears the log of accepted messages',
    handle: world => {
      world.record({ e: 'sent-cleared' });
      world.sent.clear();
      return json(200, { total: 0 });
    },
  },
  'GET webhooks': {
    description: 'numbers of pending, delivered and lost webhook updates',
    handle: world => json(200, { url: world.webhookUrl ?? null, ...world.outbox.counts() }),
  },
  'POST receiver': {
    description: 'accepts any body with 204: a receiver for webhooks of the gateway',
    handle: () => ({ kind: 'answer', status: 204, headers: {}, body: '' }),
  },
  'POST webhook-url': {
    description: '{ url, verify? }: sets the URL of webhooks; null holds them back',
    handle: postWebhookUrl,
  },
  'POST windows': {
    description: '{ phone, open | expiresAt, phoneNumberId? }: opens or closes a service window',
    handle: postWindow,
  },
  'GET windows': {
    description: 'open service windows',
    handle: world =>
      json(200, {
        windows: [...world.windows.entries()].map(([key, until]) => ({ key, until: new Date(until).toISOString() })),
      }),
  },
  'POST templates': {
    description: '{ id | name + language, status, reason? }: changes the status of a template and sends the webhook',
    handle: postTemplate,
  },
  'GET templates': {
    description: 'all templates',
    handle: world => json(200, { templates: [...world.templates.all()] }),
  },
  'POST numbers': {
    description:
      'adds or replaces a business number; { health: { canSend, quality, messagingLimit } } is the health that it reports',
    handle: postNumber,
  },
  'GET numbers': {
    description: 'business numbers',
    handle: world =>
      json(200, { numbers: [...world.numbers.values()].map(({ accessToken: _secret, ...number }) => number) }),
  },
};

/** Handles a control request. @param path without the leading `_emulator` */
export async function control(world: World, request: Request, path: readonly string[]): Promise<Reply> {
  const route = ROUTES[`${request.method} ${path.join('/')}`];
  if (!route)
    return json(404, {
      error: `There is no route ${request.method} /_emulator/${path.join('/')}. GET /_emulator/ lists the routes.`,
    });
  try {
    return await route.handle(world, request);
  } catch (error) {
    if (error instanceof ControlError) return json(400, { error: error.message });
    throw error;
  }
}

function postInbound(world: World, request: Request): Reply {
  const input = readInput(inboundInput, request);
  return json(200, { wamid: receive(world, numberFor(world, input.phoneNumberId), input) });
}

function getChat(world: World, { query }: Request): Reply {
  const person = query.get('person');
  if (!person) throw new ControlError('person: is required.');
  const number = numberFor(world, query.get('phoneNumberId') ?? undefined);
  const { phoneNumberId } = number;
  const key = personKey(world, person);
  const messages = chatOf(world, number, key, query.get('groupId') ?? undefined);
  return json(200, {
    number: { phoneNumberId, name: number.verifiedName, phone: number.displayPhoneNumber },
    ...phoneState(world, phoneNumberId, key),
    messages: messages.map(({ at, ...message }) => ({ ...message, at: new Date(at).toISOString() })),
  });
}

function getMedia(world: World, { query }: Request): Reply {
  const media = world.media.get(query.get('id') ?? '');
  if (!media) return json(404, { error: `There is no file ${query.get('id') ?? ''}.` });
  const headers = { 'content-type': media.mimeType, 'content-length': String(media.size) };
  return { kind: 'stream', status: 200, headers, body: media.open(0, media.size - 1) };
}

/** Moves the ends of windows instead of the clock, because the clock of the gateway's database cannot be moved. */
function postTime(world: World, request: Request): Reply {
  const { passedHours } = readInput(timeInput, request);
  const windows = [...world.windows.entries()].map(([key, until]) => ({ key, until: until - passedHours * HOUR }));
  for (const { key, until } of windows) {
    world.windows.set(key, until);
    world.record({ e: 'window', key, until });
  }
  return json(200, { windows: windows.length });
}

function postChange(world: World, request: Request): Reply {
  const { field, value, phoneNumberId, entryId } = readInput(changeInput, request);
  const number = phoneNumberId === undefined && entryId !== undefined ? undefined : numberFor(world, phoneNumberId);
  sendChange(world, number, { field, value, ...(entryId !== undefined && { entryId }) });
  return json(200, { field });
}

function postFaults(world: World, request: Request): Reply {
  world.faults.merge(readInput(faultsPatch, request));
  return json(200, { ...world.faults.current });
}

function getSent(world: World, { query }: Request): Reply {
  const limit = query.get('limit');
  if (limit !== null && !/^\d{1,9}$/.test(limit)) throw new ControlError('limit: must be a whole number.');
  const report = world.sent.report({
    limit: limit === null ? undefined : Number(limit),
    to: query.get('to') ?? undefined,
    callbackData: query.get('callbackData') ?? undefined,
  });
  return json(200, { ...report });
}

async function postWebhookUrl(world: World, request: Request): Promise<Reply> {
  const { url, verify } = readInput(webhookUrlInput, request);
  if (url !== null && verify && !(await verifyWebhook(url, world.verifyToken))) {
    throw new ControlError('url: the server did not answer the verification with 200 and the challenge.');
  }
  setWebhookUrl(world, url ?? undefined);
  return json(200, { url });
}

/** Sets the URL of webhooks; updates kept without a URL are posted at once. */
export function setWebhookUrl(world: World, url: string | undefined): void {
  world.record({ e: 'webhook-url', url });
  world.webhookUrl = url;
  world.outbox.wake();
}

function postWindow(world: World, request: Request): Reply {
  const { phone, open, expiresAt, phoneNumberId } = readInput(windowInput, request);
  if (open === undefined && expiresAt === undefined)
    throw new ControlError('open: is required unless expiresAt is given.');
  const person = personKey(world, phone);
  const key = windowKey(numberFor(world, phoneNumberId).phoneNumberId, person);
  const now = world.clock.now();
  const until = open === false ? 0 : expiresAt !== undefined ? Date.parse(expiresAt) : world.windows.open(key, now);
  world.windows.set(key, until);
  world.record({ e: 'window', key, until });
  return json(200, { phone: person, open: until > now, expiresAt: until === 0 ? null : new Date(until).toISOString() });
}

function postTemplate(world: World, request: Request): Reply {
  const { id, name, language, status, reason } = readInput(templateInput, request);
  if (id === undefined && name === undefined) throw new ControlError('id: is required unless name is given.');
  const found = [...world.templates.all()].filter(
    t =>
      (id === undefined || t.id === id) &&
      (name === undefined || t.name === name) &&
      (language === undefined || t.language === language),
  );
  if (found.length === 0) throw new ControlError(`${id === undefined ? 'name' : 'id'}: there is no such template.`);
  for (const template of found) setTemplateStatus(world, template, status, reason);
  return json(200, { changed: found.map(t => t.id), status });
}

function postNumber(world: World, request: Request): Reply {
  const { messagesPerSecond, portfolioId, health, ...rest } = readInput(numberInput, request);
  const number: EmulatorNumber = {
    ...rest,
    ...(messagesPerSecond !== undefined && { messagesPerSecond }),
    ...(portfolioId !== undefined && { portfolioId }),
    ...(health && { health }),
  };
  world.record({ e: 'number', n: number });
  world.numbers.set(number.phoneNumberId, number);
  return json(200, { phoneNumberId: number.phoneNumberId });
}

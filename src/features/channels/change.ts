import { conflict, FieldErrorList, notFound } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Context } from '../../schema/context.ts';
import { laneOf, OUTBOX } from '../messages/dispatch/lane.ts';
import { replaceResult } from '../tenancy/idempotency/keys.ts';
import { type Keyed, once, onceAfter, type WithKey } from '../tenancy/idempotency/once.ts';
import type { PublicChannel } from './channel.ts';
import {
  type ConnectChannelInput,
  checkSettings,
  MAX_CHANNEL_NAME,
  retryLostRace,
  storeChannel,
  verifyNumber,
} from './connect.ts';
import { cancelQueue, type DisconnectedChannel, type WrittenDisconnected, writeDisconnected } from './disconnect.ts';
import { writePaused } from './pause.ts';
import { requireChannel } from './require-channel.ts';
import { setPortfolio } from './set-portfolio.ts';
import { type ChannelSettings, lockChannels, writeSettings } from './store.ts';

const keyed = (operation: string, input: WithKey<object>): Keyed => ({ operation, key: input.idempotencyKey, input });

/** How a mutation's result is stored and rebuilt: as the channel is by then. */
const asChannel = (context: Context) => ({
  store: ({ id }: PublicChannel) => ({ id }),
  rebuild: (stored: unknown) => requireChannel(context.db.write, tenantOf(context), (stored as { id: number }).id),
});

const wake = (context: Context, channel: PublicChannel): PublicChannel => {
  context.signals.send('events');
  context.lanes.wake(OUTBOX, laneOf(tenantOf(context), channel.id));
  return channel;
};

/** Connects a number, see `connectChannel` of connect.ts. @throws VALIDATION_ERROR, CONFLICT, SERVICE_UNAVAILABLE */
export async function connectOnce(context: Context, input: WithKey<ConnectChannelInput>): Promise<PublicChannel> {
  const connect = () =>
    onceAfter(context, keyed('connectChannel', input), () => verifyNumber(context, input), {
      run: (trx, verified) => storeChannel(context, trx, tenantOf(context), input, verified),
      ...asChannel(context),
    });
  return wake(context, await retryLostRace(connect));
}

interface ChannelUpdate {
  readonly name?: string;
  readonly messagesPerSecond?: number;
  readonly portfolioId?: string;
  readonly isDefault?: boolean;
}

type GivenUpdate = { readonly [Name in keyof ChannelUpdate]: ChannelUpdate[Name] | null | undefined };

/** Changes the settings of a channel. @throws NOT_FOUND, VALIDATION_ERROR, CONFLICT */
export async function updateChannel(context: Context, id: number, given: WithKey<GivenUpdate>): Promise<PublicChannel> {
  const errors = new FieldErrorList();
  errors.refuseNull(given, ['name', 'messagesPerSecond', 'portfolioId', 'isDefault']);
  const input = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value != null),
  ) as WithKey<ChannelUpdate>;
  const name = input.name?.trim();
  if (name === '') errors.add('name', 'Is required.', 'REQUIRED');
  if (name !== undefined && name.length > MAX_CHANNEL_NAME)
    errors.add('name', `May have at most ${MAX_CHANNEL_NAME} characters.`, 'TOO_LONG');
  checkSettings(input, errors);
  errors.throwIfAny();
  const channel = await once(context, keyed('updateChannel', { ...input, id } as WithKey<ChannelUpdate>), {
    run: trx => writeUpdate(context, trx, id, { ...input, ...(name !== undefined && { name }) }),
    ...asChannel(context),
  });
  return wake(context, channel);
}

async function writeUpdate(context: Context, trx: Db, id: number, input: ChannelUpdate): Promise<PublicChannel> {
  const tenantId = tenantOf(context);
  const channels = await lockChannels(trx, tenantId);
  const channel = channels.find(one => one.id === id);
  if (!channel) throw notFound('Channel');
  const changed: PublicChannel[] = [];
  const write = async (channelId: number, settings: ChannelSettings) =>
    changed.push(await writeSettings(trx, tenantId, channelId, settings));
  if (input.isDefault === true && channel.status === 'disconnected')
    throw conflict('The channel is disconnected: connect its number again.');
  if (input.isDefault === false && channel.is_default)
    throw conflict('An account has one default channel: make another one the default instead.');
  const isNewDefault = input.isDefault === true && !channel.is_default;
  const former = isNewDefault ? channels.find(one => one.is_default) : undefined;
  if (former) await write(former.id, { is_default: false });
  const settings: ChannelSettings = {
    ...(input.name !== undefined && input.name !== channel.name && { name: input.name }),
    ...(input.messagesPerSecond !== undefined &&
      input.messagesPerSecond !== channel.messages_per_second && { messages_per_second: input.messagesPerSecond }),
    ...(isNewDefault && { is_default: true }),
  };
  if (Object.keys(settings).length > 0) await write(id, settings);
  await append(
    trx,
    tenantId,
    changed.map(row => ({ type: 'channel.updated', payload: { channel: row } })),
  );
  const moved =
    input.portfolioId === undefined
      ? []
      : await setPortfolio(trx, tenantId, channel.waba_id, input.portfolioId, context.clock.now());
  return [...changed, ...moved].findLast(row => row.id === id) ?? channel;
}

/**
 * Pauses a channel, or resumes it.
 * @param reason null to resume
 * @throws NOT_FOUND; CONFLICT for a disconnected channel
 */
export async function pauseOnce(
  context: Context,
  id: number,
  reason: string | null,
  idempotencyKey: string | null | undefined,
): Promise<PublicChannel> {
  const operation = reason === null ? 'resumeChannel' : 'pauseChannel';
  const channel = await once(context, keyed(operation, { id, reason, idempotencyKey } as WithKey<object>), {
    run: async trx => {
      const row = await writePaused(trx, tenantOf(context), id, reason);
      if (row.status === 'disconnected') throw conflict('The channel is disconnected: it sends nothing.');
      return row;
    },
    ...asChannel(context),
  });
  return wake(context, channel);
}

/** Disconnects a channel, see `disconnectChannel` of disconnect.ts. @throws NOT_FOUND */
export async function disconnectOnce(
  context: Context,
  id: number,
  reason: string,
  idempotencyKey: string | null | undefined,
): Promise<DisconnectedChannel> {
  const tenantId = tenantOf(context);
  const request = keyed('disconnectChannel', { id, reason, idempotencyKey } as WithKey<object>);
  const written = await once<WrittenDisconnected | DisconnectedChannel>(context, request, {
    run: trx => writeDisconnected(trx, tenantId, id, reason),
    // The answer to a repetition if this process dies before all messages are cancelled and counted.
    store: one => ({ cancelled: 'waiting' in one ? one.waiting.length : one.cancelled }),
    rebuild: async stored => ({
      channel: await requireChannel(context.db.write, tenantId, id),
      cancelled: (stored as { cancelled: number }).cancelled,
    }),
  });
  if ('cancelled' in written) return written;
  const { channel, waiting } = written;
  const cancelled = await cancelQueue(context, tenantId, id, waiting);
  if (cancelled !== waiting.length) await replaceResult(context, request, { cancelled });
  return { channel, cancelled };
}

import { conflict, notFound } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import type { NumberHealth } from '../../network/health.ts';
import { type ChannelCredentials, isRetryable, NetworkCallError } from '../../network/network.ts';
import type { Context, Resources } from '../../schema/context.ts';
import { networkRefusal } from '../templates/sync/network-refusal.ts';
import { onceAfter } from '../tenancy/idempotency/once.ts';
import type { PublicChannel } from './channel.ts';
import { credentialsOf } from './credentials.ts';
import { knownHealth, recordCheck } from './record-check.ts';
import { requireChannel } from './require-channel.ts';

/**
 * Asks the network for the health of a channel's number and stores it, with an event if it changed.
 * @throws NOT_FOUND; CONFLICT for a disconnected channel; SERVICE_UNAVAILABLE if the network does not answer
 */
export async function checkChannel(
  context: Context,
  id: number,
  idempotencyKey: string | null | undefined,
): Promise<PublicChannel> {
  const tenantId = tenantOf(context);
  const channel = await onceAfter(
    context,
    { operation: 'checkChannel', key: idempotencyKey, input: { id } },
    async () => {
      const credentials = await requireCredentials(context, id);
      const known = await knownHealth(context.db.write, tenantId, id);
      return { known, health: await askHealth(context, credentials) };
    },
    {
      run: async (trx, { known, health }) => {
        const row = await requireChannel(trx, tenantId, id);
        await recordCheck(trx, tenantId, row, health, context.clock.now(), known);
        return row;
      },
      store: () => ({ id }),
      rebuild: () => requireChannel(context.db.write, tenantId, id),
    },
  );
  context.signals.send('events');
  return channel;
}

async function requireCredentials(context: Context, id: number): Promise<ChannelCredentials> {
  const credentials = await credentialsOf(context, tenantOf(context), id);
  if (!credentials) throw notFound('Channel');
  if (credentials.status === 'disconnected') throw conflict('The channel is disconnected: connect its number again.');
  return credentials;
}

/** A number whose credentials are refused is blocked: that is its health. @throws SERVICE_UNAVAILABLE if the network does not answer */
export async function askHealth(
  { network }: Pick<Resources, 'network'>,
  channel: ChannelCredentials,
): Promise<NumberHealth> {
  try {
    return await network.numberHealth(channel);
  } catch (error) {
    const refused = error instanceof NetworkCallError ? error.error : undefined;
    if (!refused || isRetryable(refused)) throw networkRefusal(error);
    const { code, title, details } = refused;
    return { patch: { canSend: 'BLOCKED', lastError: { code, title, details } }, details: { code, title, details } };
  }
}

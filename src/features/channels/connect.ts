import type { Resources } from '../../context.ts';
import { CodedError, conflict, FieldErrorList } from '../../errors.ts';
import { append } from '../../events.ts';
import { NetworkCallError } from '../../network/network.ts';
import { sha256 } from '../../platform/crypto.ts';
import { violationOf } from '../../platform/violations.ts';
import { requestSync } from '../templates/request-sync.ts';
import type { ChannelRow } from './channel.ts';
import { upsertChannel } from './store.ts';

export interface ConnectChannelInput {
  readonly name: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  readonly accessToken: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly messagesPerSecond?: number | undefined;
  readonly isSandbox?: boolean | undefined;
}

type Needs = Pick<Resources, 'db' | 'network' | 'secrets'>;

/** Throughput of a business number that the network has not upgraded (cloud-api §8). */
const DEFAULT_MESSAGES_PER_SECOND = 80;

/**
 * Connects a business number: its credentials are tried on the network before anything is stored, and are stored sealed.
 * Connecting a number again gives it new credentials and resumes it.
 * @throws VALIDATION_ERROR by field; CONFLICT when another tenant has the number
 */
export async function connectChannel(
  { db, network, secrets }: Needs,
  tenantId: number,
  input: ConnectChannelInput,
): Promise<ChannelRow> {
  const errors = new FieldErrorList();
  for (const field of ['name', 'phoneNumberId', 'wabaId', 'accessToken', 'appSecret', 'verifyToken'] as const) {
    if (input[field].trim() === '') errors.add(field, 'Is required.');
  }
  const messagesPerSecond = input.messagesPerSecond ?? DEFAULT_MESSAGES_PER_SECOND;
  if (messagesPerSecond < 1 || messagesPerSecond > 1_000) errors.add('messagesPerSecond', 'Must be from 1 to 1000.');
  errors.throwIfAny();
  const number = await network.phoneNumber(input).catch((error: unknown) => {
    if (!(error instanceof NetworkCallError)) throw error;
    const field = error.error?.code === 190 ? 'accessToken' : 'phoneNumberId';
    throw new CodedError('VALIDATION_ERROR', `The network refused this channel: ${error.message}`, {
      [field]: [error.message],
    });
  });
  const store = () =>
    db.transaction(async trx => {
      const row = await upsertChannel(trx, tenantId, {
        name: input.name.trim(),
        phoneNumberId: input.phoneNumberId,
        wabaId: input.wabaId,
        displayPhoneNumber: number.displayPhoneNumber,
        verifiedName: number.verifiedName,
        accessTokenSealed: secrets.seal(input.accessToken),
        appSecretSealed: secrets.seal(input.appSecret),
        verifyTokenHash: sha256(input.verifyToken),
        messagesPerSecond,
        isSandbox: input.isSandbox ?? false,
      });
      if (!row) return undefined;
      await append(trx, tenantId, [{ type: 'channel.updated', payload: { channel: row } }]);
      await requestSync(trx, tenantId, row.waba_id);
      return row;
    });
  // Two who connect at the same moment both find no owner, and no default: the slower one looks again.
  const channel = await store().catch(error => {
    if (violationOf(error)?.kind === 'unique') return store();
    throw error;
  });
  if (!channel) throw conflict('This number is connected to another tenant.');
  return channel;
}

import { CodedError, conflict, FieldErrorList } from '../../core/errors.ts';
import { violationOf } from '../../database/violations.ts';
import { append } from '../../events/append.ts';
import { NetworkCallError } from '../../network/network.ts';
import { sha256 } from '../../platform/crypto.ts';
import type { Resources } from '../../schema/context.ts';
import { requestSync } from '../templates/sync/request-sync.ts';
import type { ChannelRow } from './channel.ts';
import { knownPortfolio } from './portfolio-store.ts';
import { PORTFOLIO_FAULT, PORTFOLIO_ID, setPortfolio } from './set-portfolio.ts';
import { upsertChannel } from './store.ts';

export interface ConnectChannelInput {
  readonly name: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  /** Business portfolio that owns the account; by default looked up on the network. */
  readonly portfolioId?: string | undefined;
  readonly accessToken: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly messagesPerSecond?: number | undefined;
  readonly isSandbox?: boolean | undefined;
}

type Needs = Pick<Resources, 'db' | 'network' | 'secrets' | 'clock'>;

/** Throughput of a business number that the network has not upgraded (cloud-api §8). */
const DEFAULT_MESSAGES_PER_SECOND = 80;

/**
 * Connects a business number. Credentials are verified on the network, then stored encrypted. Connecting a number again
 * replaces its credentials and resumes it.
 * @throws VALIDATION_ERROR by field; CONFLICT if another tenant has the number
 */
export async function connectChannel(
  { db, network, secrets, clock }: Needs,
  tenantId: number,
  input: ConnectChannelInput,
): Promise<ChannelRow> {
  const errors = new FieldErrorList();
  for (const field of ['name', 'phoneNumberId', 'wabaId', 'accessToken', 'appSecret', 'verifyToken'] as const) {
    if (input[field].trim() === '') errors.add(field, 'Is required.');
  }
  const messagesPerSecond = input.messagesPerSecond ?? DEFAULT_MESSAGES_PER_SECOND;
  if (messagesPerSecond < 1 || messagesPerSecond > 1_000) errors.add('messagesPerSecond', 'Must be from 1 to 1000.');
  if (input.portfolioId !== undefined && !PORTFOLIO_ID.test(input.portfolioId))
    errors.add('portfolioId', PORTFOLIO_FAULT);
  errors.throwIfAny();
  const rejectInput = (error: unknown) => {
    if (!(error instanceof NetworkCallError)) throw error;
    const field = error.error?.code === 190 ? 'accessToken' : 'phoneNumberId';
    throw new CodedError('VALIDATION_ERROR', `The network refused this channel: ${error.message}`, {
      [field]: [error.message],
    });
  };
  const number = await network.phoneNumber(input).catch(rejectInput);
  const portfolioId = input.portfolioId ?? (await network.portfolio(input).catch(rejectInput));
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
      // Another channel of the same account may have the portfolio.
      const owner = portfolioId ?? (await knownPortfolio(trx, tenantId, row.waba_id));
      const changed = owner === undefined ? [] : await setPortfolio(trx, tenantId, row.waba_id, owner, clock.now());
      const channel = changed.find(({ id }) => id === row.id);
      if (!channel) await append(trx, tenantId, [{ type: 'channel.updated', payload: { channel: row } }]);
      await requestSync(trx, tenantId, row.waba_id);
      return channel ?? row;
    });
  // Concurrent connections both find no owner and no default; the one that violates the unique key retries.
  const channel = await store().catch(error => {
    if (violationOf(error)?.kind === 'unique') return store();
    throw error;
  });
  if (!channel) throw conflict('This number is connected to another tenant.');
  return channel;
}

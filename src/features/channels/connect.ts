import { conflict, FieldErrorList } from '../../core/errors.ts';
import type { Db } from '../../database/database.ts';
import { violationOf } from '../../database/violations.ts';
import { append } from '../../events/append.ts';
import type { NumberHealth } from '../../network/health.ts';
import { isRetryable, NetworkCallError, type PhoneNumberInfo } from '../../network/network.ts';
import { sha256 } from '../../platform/crypto.ts';
import type { Resources } from '../../schema/context.ts';
import { resumeQueue } from '../messages/dispatch/resume.ts';
import { networkRefusal } from '../templates/sync/network-refusal.ts';
import { requestSync } from '../templates/sync/request-sync.ts';
import type { PublicChannel } from './channel.ts';
import { knownPortfolio } from './portfolio-store.ts';
import { recordCheck } from './record-check.ts';
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
  /** Undefined keeps that of a channel with the same number. */
  readonly isSandbox?: boolean | undefined;
}

type Needs = Pick<Resources, 'db' | 'network' | 'secrets' | 'clock'>;

/** Throughput of a business number that the network has not upgraded (cloud-api §8). */
const DEFAULT_MESSAGES_PER_SECOND = 80;
export const MAX_MESSAGES_PER_SECOND = 1_000;
export const MAX_CHANNEL_NAME = 150;
const REQUIRED = ['name', 'phoneNumberId', 'wabaId', 'accessToken', 'appSecret', 'verifyToken'] as const;
/** Ids of objects on the network. */
const NETWORK_ID = /^\d{1,32}$/;

/** Facts of the network about a number that is to be connected. */
export interface VerifiedNumber {
  readonly number: PhoneNumberInfo;
  readonly portfolioId: string | undefined;
  /** Undefined if the network did not answer that question: the periodic check repeats it. */
  readonly health: NumberHealth | undefined;
}

/**
 * Connects a business number. Credentials are verified on the network, then stored encrypted. Connecting a number again
 * replaces its credentials and resumes it.
 * @throws VALIDATION_ERROR by field; CONFLICT if another tenant has the number; SERVICE_UNAVAILABLE if the network does not respond
 */
export async function connectChannel(
  needs: Needs,
  tenantId: number,
  input: ConnectChannelInput,
): Promise<PublicChannel> {
  const verified = await verifyNumber(needs, input);
  return retryLostRace(() => needs.db.transaction(trx => storeChannel(needs, trx, tenantId, input, verified)));
}

/** Checks an input, and its credentials on the network. @throws as `connectChannel` */
export async function verifyNumber(
  { network }: Pick<Needs, 'network'>,
  input: ConnectChannelInput,
): Promise<VerifiedNumber> {
  const errors = new FieldErrorList();
  for (const field of REQUIRED) if (input[field].trim() === '') errors.add(field, 'Is required.', 'REQUIRED');
  if (input.name.trim().length > MAX_CHANNEL_NAME)
    errors.add('name', `May have at most ${MAX_CHANNEL_NAME} characters.`, 'TOO_LONG');
  for (const field of ['phoneNumberId', 'wabaId'] as const)
    if (input[field].trim() !== '' && !NETWORK_ID.test(input[field]))
      errors.add(field, 'Must be digits: the id on the network, not the phone number.');
  checkSettings(input, errors);
  errors.throwIfAny();
  const number = await network.phoneNumber(input).catch(rejectInput);
  const portfolioId = input.portfolioId ?? (await network.portfolio(input).catch(rejectInput));
  // Not a condition of connecting: the number may be blocked for now, and an older version lacks some of these fields.
  const health = await network.numberHealth(input).catch(() => undefined);
  return { number, portfolioId, health };
}

/** Collects the faults of fields that an update can change too. */
export function checkSettings(
  { messagesPerSecond, portfolioId }: Pick<ConnectChannelInput, 'messagesPerSecond' | 'portfolioId'>,
  errors: FieldErrorList,
): void {
  if (messagesPerSecond !== undefined && (messagesPerSecond < 1 || messagesPerSecond > MAX_MESSAGES_PER_SECOND))
    errors.add('messagesPerSecond', `Must be from 1 to ${MAX_MESSAGES_PER_SECOND}.`, 'OUT_OF_RANGE');
  if (portfolioId !== undefined && !PORTFOLIO_ID.test(portfolioId)) errors.add('portfolioId', PORTFOLIO_FAULT);
}

/** Throws the fault of the field that the network refuses: the token, if it lacks permissions. */
function rejectInput(error: unknown): never {
  const provider = error instanceof NetworkCallError ? error.error : undefined;
  if (!(error instanceof Error) || !provider || isRetryable(provider)) throw networkRefusal(error);
  const errors = new FieldErrorList();
  // 100: an object that does not exist, or that the token may not see.
  errors.add(
    provider.code !== 100 && provider.retryClass === 'auth' ? 'accessToken' : 'phoneNumberId',
    error.message,
    'NETWORK_REFUSED',
  );
  throw errors.toError(`The network refused this channel: ${error.message}`);
}

/**
 * Stores a verified number with its events, and schedules a sync of its templates.
 * @throws CONFLICT if another tenant has the number
 */
export async function storeChannel(
  { secrets, clock }: Pick<Needs, 'secrets' | 'clock'>,
  trx: Db,
  tenantId: number,
  input: ConnectChannelInput,
  { number, portfolioId, health }: VerifiedNumber,
): Promise<PublicChannel> {
  const row = await upsertChannel(trx, tenantId, {
    name: input.name.trim(),
    phoneNumberId: input.phoneNumberId,
    wabaId: input.wabaId,
    displayPhoneNumber: number.displayPhoneNumber,
    verifiedName: number.verifiedName,
    accessTokenSealed: secrets.seal(input.accessToken),
    appSecretSealed: secrets.seal(input.appSecret),
    verifyTokenHash: sha256(input.verifyToken),
    messagesPerSecond: input.messagesPerSecond ?? DEFAULT_MESSAGES_PER_SECOND,
    isSandbox: input.isSandbox,
  });
  if (!row) throw conflict('This number is connected to another tenant.');
  await resumeQueue(trx, tenantId, row.id);
  // Another channel of the same account may have the portfolio.
  const owner = portfolioId ?? (await knownPortfolio(trx, tenantId, row.waba_id));
  const changed = owner === undefined ? [] : await setPortfolio(trx, tenantId, row.waba_id, owner, clock.now());
  const channel = changed.find(({ id }) => id === row.id);
  if (!channel) await append(trx, tenantId, [{ type: 'channel.updated', payload: { channel: row } }]);
  if (health) await recordCheck(trx, tenantId, channel ?? row, health, clock.now(), 'connecting');
  await requestSync(trx, tenantId, row.waba_id);
  return channel ?? row;
}

/** Runs a transaction again if it violates a unique key: of concurrent connections, both find no owner and no default, and one loses. */
export const retryLostRace = <Result>(store: () => Promise<Result>): Promise<Result> =>
  store().catch((error: unknown) => {
    if (violationOf(error)?.kind === 'unique') return store();
    throw error;
  });

import type { NewEvent } from '../../core/events.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { NetworkUpdate } from '../../network/updates.ts';
import { adoptPortfolio } from '../contacts/recognition/adopt-portfolio.ts';
import type { PublicChannel } from './channel.ts';
import { lockAccount, portfolioExists, writePortfolio } from './portfolio-store.ts';

export const PORTFOLIO_ID = /^\d{1,32}$/;
export const PORTFOLIO_FAULT = 'Must be digits: the id of the business portfolio.';

/**
 * Sets the business portfolio of a business account on all its channels, with an event for each changed channel. User ids seen on
 * them move to that portfolio, and contacts that share one are merged.
 *
 * Lock order: channels, tenant_usage, contacts. Call it before the transaction locks any of those, to avoid deadlocks.
 * @param onCountedTwice takes the numbers of conversations that a merge found counted twice, where the transaction counts at its end
 * @returns the channels that changed
 */
export async function setPortfolio(
  trx: Db,
  tenantId: number,
  wabaId: string,
  portfolioId: string,
  nowMs: number,
  onCountedTwice?: (count: number) => void,
): Promise<PublicChannel[]> {
  const channels = await lockAccount(trx, tenantId, wabaId);
  const formerIds = new Set(channels.map(channel => channel.portfolio_id).filter(formerId => formerId !== portfolioId));
  if (formerIds.size === 0) return [];
  const changed = await writePortfolio(trx, tenantId, wabaId, portfolioId);
  for (const formerId of formerIds) {
    // If other accounts still have the former portfolio, its user ids cannot be attributed to this account.
    if (formerId !== null && (await portfolioExists(trx, tenantId, formerId))) continue;
    await adoptPortfolio(trx, tenantId, formerId ?? `waba:${wabaId}`, portfolioId, nowMs, onCountedTwice);
  }
  await append(
    trx,
    tenantId,
    changed.map((channel): NewEvent => ({ type: 'channel.updated', payload: { channel } })),
  );
  return changed;
}

/** A webhook update that names the portfolio of an account, with the tenant's channels of that account. */
export interface PortfolioUpdate {
  readonly channels: readonly PublicChannel[];
  readonly update: Extract<NetworkUpdate, { kind: 'portfolio' }>;
}

/** Applies portfolio updates; executes no statement if there are none. */
export async function applyPortfolios(
  trx: Db,
  tenantId: number,
  updates: readonly PortfolioUpdate[],
  nowMs: number,
  onCountedTwice: (count: number) => void,
): Promise<void> {
  const latest = new Map<string, string>();
  for (const { channels, update } of updates)
    for (const { waba_id: wabaId } of channels) latest.set(wabaId, update.portfolioId);
  for (const [wabaId, portfolioId] of latest)
    await setPortfolio(trx, tenantId, wabaId, portfolioId, nowMs, onCountedTwice);
}

import { conflict, notFound } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { Lane, LaneTurn } from '../../../lanes/lane.ts';
import { NetworkCallError, type NetworkTemplate } from '../../../network/network.ts';
import { HOUR, MINUTE, SECOND } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { credentialsOf } from '../../channels/credentials.ts';
import { deleteMissing, type TemplateFields, upsertTemplates } from '../changes.sql.ts';
import { changeEvents, removalEvents } from '../events.ts';
import type { Account } from '../store.ts';
import { beginSync, failSync, finishSync, renewSync } from './runs.sql.ts';

type Needs = Pick<Resources, 'config' | 'db' | 'network' | 'secrets' | 'signals'>;

/** Result of a sync. `total` is the number of templates on the network: created, updated and unchanged. */
export interface SyncCounts {
  readonly created: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly total: number;
}

/** Longer than the network's timeout for one page. */
const LEASE_MARGIN_MS = MINUTE;
/** Sync interval per account, with five minutes of jitter so that accounts connected together spread out. */
const INTERVAL_SECONDS = HOUR / SECOND;
const SPREAD_SECONDS = (10 * MINUTE) / SECOND;

/**
 * Reads the templates of one business account from the network, page by page, and writes new and changed ones, each with its
 * event. A page is committed as soon as it is read; templates missing on the network are removed at the end, and only if every
 * page was read. One run at a time, so that no change is reported twice. What a webhook changes while a page is on its way stays, and
 * has the account read once more (`applyTemplateUpdates`).
 *
 * A worker's final step is fenced by its lane: after losing it, the worker removes nothing and neither ends nor postpones the
 * run. Pages already read are facts and stay.
 *
 * @param lane the worker's, which reads due accounts only; undefined is returned if nothing is due or another run is active
 * @throws LaneLost; NetworkCallError if the network does not return all pages, CONFLICT if another run has taken over, NOT_FOUND
 * without the channel
 */
export async function sync(
  resources: Needs,
  tenantId: number,
  account: Account,
  lane?: Pick<Lane, keyof LaneTurn | 'fence'>,
): Promise<SyncCounts | undefined> {
  const { config, db } = resources;
  const id = newId();
  const leaseSeconds = (config.network.requestTimeoutMs + LEASE_MARGIN_MS) / SECOND;
  const nextSeconds = INTERVAL_SECONDS + (Math.random() - 0.5) * SPREAD_SECONDS;
  const { waba_id: wabaId } = account;
  const startedAt = await beginSync(db.write, tenantId, wabaId, { id, leaseSeconds, nextSeconds, lane });
  if (startedAt === undefined) return undefined;
  try {
    return await readAll(resources, tenantId, account, { id, startedAt, leaseSeconds, lane });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await failSync(db.write, tenantId, wabaId, id, reason, waitOf(error), lane);
    throw error;
  }
}

interface Run {
  readonly id: string;
  readonly startedAt: string;
  readonly leaseSeconds: number;
  readonly lane: Pick<Lane, 'fence'> | undefined;
}

async function readAll(
  resources: Needs,
  tenantId: number,
  { waba_id: wabaId, channel_id: channelId }: Account,
  run: Run,
): Promise<SyncCounts> {
  const { db, network, signals } = resources;
  const credentials = await credentialsOf(resources, tenantId, channelId);
  if (!credentials) throw notFound('Channel');
  /** A time at or before the request of the current page: the network is asked for it after the page before was written. */
  let askedAt = run.startedAt;
  /** Runs a transaction in which this run owns the account. */
  const write = <T>(work: (trx: Db) => Promise<T>): Promise<T> =>
    db.transaction(async trx => {
      const now = await renewSync(trx, tenantId, wabaId, run.id, run.leaseSeconds);
      if (now === undefined) throw conflict('Another sync of these templates has taken over.');
      const result = await work(trx);
      askedAt = now;
      return result;
    });

  const present = new Map<string, TemplateName>();
  let [created, updated] = [0, 0];
  for await (const page of network.templatePages(credentials)) {
    const templates = fresh(page, present);
    const changes = await write(async trx => {
      const changed = await upsertTemplates(trx, tenantId, wabaId, templates, askedAt);
      await append(trx, tenantId, changeEvents(changed));
      return changed;
    });
    const made = changes.filter(({ previous }) => previous === null).length;
    created += made;
    updated += changes.length - made;
    if (changes.length > 0) signals.send('events');
  }
  const removed = await write(async trx => {
    const gone = await deleteMissing(trx, tenantId, wabaId, run.startedAt, [...present.values()]);
    await append(trx, tenantId, removalEvents(gone));
    await finishSync(trx, tenantId, wabaId, run.id);
    await run.lane?.fence(trx);
    return gone.length;
  });
  if (removed > 0) signals.send('events');
  return { created, updated, removed, unchanged: present.size - created - updated, total: present.size };
}

interface TemplateName {
  readonly name: string;
  readonly language: string;
}

/**
 * Converts a page's templates to rows, without duplicates of earlier pages; adds them to `seen`. Templates marked as deleted are
 * skipped.
 */
function fresh(page: readonly NetworkTemplate[], seen: Map<string, TemplateName>): TemplateFields[] {
  return page.flatMap(template => {
    const { name, language } = template;
    const key = `${name} ${language}`;
    if (template.status === 'DELETED' || seen.has(key)) return [];
    seen.set(key, { name, language });
    return {
      network_id: template.id,
      name,
      language,
      category: template.category,
      status: template.status,
      status_reason: template.statusReason,
      parameter_format: template.parameterFormat,
      quality: template.quality,
      components: template.components,
    };
  });
}

/** Seconds until the next attempt: as given by the network's quota error, or an hour (cloud-api §6). */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof NetworkCallError) || error.error?.retryClass !== 'retry_after_wait') return undefined;
  return (error.error.retryAfterMs ?? HOUR) / SECOND;
}

import type { Resources } from '../../context.ts';
import { conflict, notFound } from '../../errors.ts';
import { append } from '../../events.ts';
import { NetworkCallError, type NetworkTemplate } from '../../network/network.ts';
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import type { Db } from '../../platform/database.ts';
import { newId } from '../../platform/ids.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { eventsOf, removalsOf } from './changes.ts';
import { deleteOthers, type TemplateFields, upsertTemplates } from './store.ts';
import { type Account, beginSync, failSync, finishSync, renewSync } from './syncs-store.ts';

type Needs = Pick<Resources, 'config' | 'db' | 'network' | 'secrets' | 'signals'>;

/** What a sync found. `total` is what the network has: created, updated and unchanged. */
export interface SyncCounts {
  readonly created: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly total: number;
}

/** Beyond the longest time that the network may take for one page. */
const LEASE_MARGIN_MS = MINUTE;
/** How often each account is read, give or take five minutes: accounts that were connected together spread out. */
const INTERVAL_SECONDS = HOUR / SECOND;
const SPREAD_SECONDS = (10 * MINUTE) / SECOND;

/**
 * Reads the templates of one business account from the network, page by page, and writes what is new or differs, each change
 * with its event. A page stands as soon as it is read; templates that the network has no more are taken away at the end, and
 * only when every page was read. One run at a time: nothing is told twice.
 *
 * @param onlyIfDue what the worker asks; undefined is answered when there is nothing to do or somebody is at it
 * @throws NetworkCallError when the network does not give all pages, CONFLICT when another run has taken over, NOT_FOUND without the channel
 */
export async function sync(
  resources: Needs,
  tenantId: number,
  account: Account,
  onlyIfDue: boolean,
): Promise<SyncCounts | undefined> {
  const { config, db } = resources;
  const id = newId();
  const leaseSeconds = (config.network.requestTimeoutMs + LEASE_MARGIN_MS) / SECOND;
  const nextSeconds = INTERVAL_SECONDS + (Math.random() - 0.5) * SPREAD_SECONDS;
  const { waba_id: wabaId } = account;
  const startedAt = await beginSync(db.write, tenantId, wabaId, { id, leaseSeconds, nextSeconds, onlyIfDue });
  if (startedAt === undefined) return undefined;
  try {
    return await readAll(resources, tenantId, account, { id, startedAt, leaseSeconds });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await failSync(db.write, tenantId, wabaId, id, reason, waitOf(error));
    throw error;
  }
}

interface Run {
  readonly id: string;
  readonly startedAt: string;
  readonly leaseSeconds: number;
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
  /** One transaction, in which the account is ours. */
  const write = <T>(work: (trx: Db) => Promise<T>): Promise<T> =>
    db.transaction(async trx => {
      if (!(await renewSync(trx, tenantId, wabaId, run.id, run.leaseSeconds)))
        throw conflict('Another sync of these templates has taken over.');
      return work(trx);
    });

  const present = new Map<string, TemplateName>();
  let [created, updated] = [0, 0];
  for await (const page of network.templatePages(credentials)) {
    const templates = fresh(page, present);
    const changes = await write(async trx => {
      const changed = await upsertTemplates(trx, tenantId, wabaId, templates);
      await append(trx, tenantId, eventsOf(changed));
      return changed;
    });
    const made = changes.filter(({ previous }) => previous === null).length;
    created += made;
    updated += changes.length - made;
    if (changes.length > 0) signals.send('events');
  }
  const removed = await write(async trx => {
    const gone = await deleteOthers(trx, tenantId, wabaId, run.startedAt, [...present.values()]);
    await append(trx, tenantId, removalsOf(gone));
    await finishSync(trx, tenantId, wabaId, run.id);
    return gone.length;
  });
  if (removed > 0) signals.send('events');
  return { created, updated, removed, unchanged: present.size - created - updated, total: present.size };
}

interface TemplateName {
  readonly name: string;
  readonly language: string;
}

/** The templates of a page that no page before had, as rows; `seen` gets them. One that the network calls deleted is none. */
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

/** A quota of the network says when to come again, or lasts an hour (cloud-api §6). Seconds. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof NetworkCallError) || error.error?.retryClass !== 'retry_after_wait') return undefined;
  return (error.error.retryAfterMs ?? HOUR) / SECOND;
}

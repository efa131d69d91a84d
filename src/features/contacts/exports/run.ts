import { randomUUID } from 'node:crypto';
import { addAbortSignal } from 'node:stream';
import { CodedError } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { type Lane, LaneLost, type TurnEnd } from '../../../lanes/lane.ts';
import { DAY, MINUTE, SECOND } from '../../../platform/clock.ts';
import { FileStoreError, type SpooledFile, TooLargeError } from '../../../platform/files/file-store.ts';
import { writtenStream } from '../../../platform/files/written-stream.ts';
import type { Resources } from '../../../schema/context.ts';
import { releaseFileKeys, reserveFileKey, useFileKey } from '../../messages/content/media/keeping/keys.ts';
import { lockErasures } from '../erasure/erasure.sql.ts';
import type { ExportJob } from './export.ts';
import { complete, fail, hasErased, postpone, startNext } from './exports.sql.ts';
import { getExports } from './store.ts';
import { writeExport } from './write.ts';

const MAX_BYTES = 20 * 1024 ** 3;
/** Files are copies of personal data, so they are kept for a day. */
const KEEP_MS = DAY;
const MAX_ATTEMPTS = 10;
const PAUSES_MS = [2 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE];
const LINGER_MS = 2 * SECOND;

type RunResources = Pick<Resources, 'db' | 'clock' | 'files' | 'log' | 'prices' | 'signals'>;

/**
 * Writes the exports of a tenant, one after the other. A file is spooled on the local disk, stored under a new key, and shown in one
 * transaction with the end of the export. After a crash, the next holder of the lane writes the file again.
 */
export async function runExports(resources: RunResources, lane: Lane): Promise<TurnEnd> {
  const { tenantId } = lane;
  while (await lane.ready()) {
    if (lane.isTurnOver()) return 'more';
    const job = await startNext(resources.db.write, tenantId);
    if (!job) {
      if (await lane.linger(LINGER_MS)) continue;
      return undefined;
    }
    await attempt(resources, lane, job).catch((error: unknown) => settle(resources, lane, job, error));
    if (lane.signal.aborted) return undefined;
  }
  return undefined;
}

async function attempt(resources: RunResources, lane: Lane, job: ExportJob): Promise<void> {
  const { db, files } = resources;
  const { tenantId, signal } = lane;
  let rowCount = 0;
  const stream = writtenStream(async write => {
    rowCount = await writeExport(resources, tenantId, job, write);
  });
  const spooled = await files.receive(addAbortSignal(signal, stream), MAX_BYTES);
  try {
    const storageKey = `${tenantId}/exports/${randomUUID()}`;
    await reserveFileKey(db.write, tenantId, storageKey);
    await files.put(storageKey, spooled);
    if (await finish(resources, lane, job, { rowCount, storageKey, spooled })) return resources.signals.send('events');
    await releaseFileKeys(db.write, tenantId, [storageKey]);
    throw new ErasedMeanwhile('People whose data it had were erased while it was written. Request it again.');
  } finally {
    await spooled.discard();
  }
}

/** Completes the export. @returns false if a person in the file was erased since it was read */
function finish(
  { db }: RunResources,
  lane: Lane,
  job: ExportJob,
  { rowCount, storageKey, spooled }: { rowCount: number; storageKey: string; spooled: SpooledFile },
): Promise<boolean> {
  const { tenantId } = lane;
  return db.transaction(async trx => {
    // An erasure has either committed, and is seen here, or starts after this transaction and deletes the file.
    await lockErasures(trx, tenantId, 'shared');
    if (await hasErased(trx, tenantId, job.id)) return false;
    if (!(await useFileKey(trx, tenantId, storageKey)))
      throw new FileStoreError('storing a file', new Error('the process was suspended'));
    const { size, sha256 } = spooled;
    await complete(trx, tenantId, job.id, { rowCount, storageKey, size, sha256, keepMs: KEEP_MS });
    await appendExportEvent(trx, tenantId, 'export.completed', job.id);
    await lane.fence(trx);
    return true;
  });
}

/** Writes the event of an export that ended. */
async function appendExportEvent(
  trx: Db,
  tenantId: number,
  type: 'export.completed' | 'export.failed',
  id: string,
): Promise<void> {
  const rows = await getExports(trx, tenantId, [id]);
  await append(
    trx,
    tenantId,
    rows.map(row => ({ type, payload: { export: row }, contactId: row.contact_id })),
  );
}

/** A person in the file was erased since it was read: the file is written again. */
class ErasedMeanwhile extends Error {
  override readonly name = 'ErasedMeanwhile';
}

/** Fails an export permanently, or queues it again. If the lane was lost, its next holder decides. */
async function settle({ db, log, signals }: RunResources, lane: Lane, job: ExportJob, error: unknown): Promise<void> {
  if (error instanceof LaneLost) throw error;
  if (lane.signal.aborted) return;
  const { tenantId } = lane;
  const { id, attempts } = job;
  const reason = reasonOf(error);
  const isFinal = error instanceof CodedError || error instanceof TooLargeError || attempts >= MAX_ATTEMPTS;
  log.warn({ err: error, tenantId, export: id, attempts }, 'an export could not be written');
  if (isFinal) {
    await db.transaction(async trx => {
      if (await fail(trx, tenantId, id, reason)) await appendExportEvent(trx, tenantId, 'export.failed', id);
    });
    return signals.send('events');
  }
  const pauseMs = error instanceof ErasedMeanwhile ? 0 : (PAUSES_MS[attempts - 1] ?? PAUSES_MS.at(-1) ?? MINUTE);
  await postpone(db.write, tenantId, id, pauseMs, reason);
}

/** The error shown to users, without details of this machine. */
function reasonOf(error: unknown): string {
  if (error instanceof CodedError || error instanceof ErasedMeanwhile) return error.message;
  if (error instanceof TooLargeError) return 'The file is too large. Use a narrower filter.';
  return error instanceof FileStoreError ? 'The file could not be stored.' : 'The file could not be written.';
}

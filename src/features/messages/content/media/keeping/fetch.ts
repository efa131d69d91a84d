import { randomUUID } from 'node:crypto';
import { addAbortSignal } from 'node:stream';
import { CodedError } from '../../../../../core/errors.ts';
import { newId } from '../../../../../core/ids.ts';
import type { Lane, TurnEnd } from '../../../../../lanes/lane.ts';
import { type ChannelCredentials, type MediaInfo, NetworkCallError } from '../../../../../network/network.ts';
import { HOUR, MINUTE, SECOND } from '../../../../../platform/clock.ts';
import { FileStoreError, type SpooledFile, TooLargeError } from '../../../../../platform/files/file-store.ts';
import type { Resources } from '../../../../../schema/context.ts';
import { openChannel } from '../channel.ts';
import { hexDigest } from '../file.ts';
import { MAX_BYTES } from '../formats.ts';
import { keepContent, linkKnownContent, reserveKey } from './contents.sql.ts';
import { type ClaimedFile, claimFiles, loseFile, postponeFile, releaseClaims } from './queue.sql.ts';
import { parseMediaLane } from './queue.ts';
import { RESERVED_MS } from './sweep.ts';

/** Files that one lane fetches at once. */
const CONCURRENCY = 4;
/** Longer than any fetch; a killed process's claims end with its lane. */
const CLAIM_MS = 10 * MINUTE;
/** Longest fetch: 100 MB at 350 kB/s. A stalled one ends after a minute without a byte. */
const FETCH_TIMEOUT_MS = 5 * MINUTE;
const LINGER_MS = 2 * SECOND;
/** Back-off between attempts; the last one repeats until the network has deleted the file. */
const PAUSES_MS = [2 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR];
/** Pause of a lane whose files all failed: the network or the store is away. */
const LANE_PAUSE_MS = 5 * SECOND;
/** Attempts at a file that the network does not have: it may announce a file a little early. */
const MAX_MISSES = 4;
/** Attempts at a file of other bytes than the network announced, over some 20 minutes; then what it has is kept. */
const MAX_MISMATCHES = 6;

/** How an attempt ended. `away`: for a reason that has nothing to do with the file. */
type Outcome = 'kept' | 'linked' | 'lost' | 'postponed' | 'away';

/** The network sent other bytes than it announced: a page of a proxy, a part of the file. */
class MismatchError extends Error {
  override readonly name = 'MismatchError';
}

type FetchResources = Pick<Resources, 'db' | 'secrets' | 'network' | 'files' | 'metrics' | 'log'>;

/**
 * Fetches the files of a channel from the network and keeps them. A file is retried until the network has deleted it; nothing is
 * lost by a killed process, a full disk or an outage of the network, of the store or of the database.
 */
export async function fetchFiles(resources: FetchResources, lane: Lane): Promise<TurnEnd> {
  const { db } = resources;
  const { tenantId, channelId } = parseMediaLane(lane.key);
  await releaseClaims(db.write, tenantId, channelId);
  while (await lane.ready()) {
    if (lane.isTurnOver()) return 'more';
    const claim = newId();
    const files = await claimFiles(db.write, tenantId, channelId, claim, CLAIM_MS, CONCURRENCY);
    if (files.length === 0) {
      if (await lane.linger(LINGER_MS)) continue;
      return undefined;
    }
    const outcomes = await Promise.all(files.map(file => attempt(resources, lane, channelId, file, claim)));
    if (lane.signal.aborted) return undefined;
    if (outcomes.every(outcome => outcome === 'away'))
      return { pauseMs: LANE_PAUSE_MS, error: 'No file could be fetched.' };
  }
  return undefined;
}

async function attempt(
  resources: FetchResources,
  { tenantId, signal }: Lane,
  channelId: number,
  file: ClaimedFile,
  claim: string,
): Promise<Outcome> {
  const { db, log, metrics } = resources;
  const outcome = await fetchFile(resources, tenantId, channelId, file, claim, signal).catch(
    async (error: unknown): Promise<Outcome> => {
      // The claim ends with the lane.
      if (signal.aborted) return 'away';
      const { reason, isFinal, isAway } = judge(error, file);
      if (isFinal) {
        await loseFile(db.write, tenantId, file.id, claim, reason);
        log.warn({ tenantId, file: file.id, reason }, 'a file cannot be fetched from the network');
        return 'lost';
      }
      const pauseMs = PAUSES_MS[Math.min(file.attempts, PAUSES_MS.length) - 1] ?? HOUR;
      await postponeFile(db.write, tenantId, file.id, claim, pauseMs, reason);
      const level = error instanceof FileStoreError ? 'error' : 'warn';
      log[level]({ tenantId, file: file.id, attempt: file.attempts, reason }, 'fetching a file failed; it is retried');
      return isAway ? 'away' : 'postponed';
    },
  );
  metrics.mediaFetches.inc({ outcome });
  return outcome;
}

async function fetchFile(
  resources: FetchResources,
  tenantId: number,
  channelId: number,
  file: ClaimedFile,
  claim: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const { db, files, metrics, log } = resources;
  if (file.expected_sha256 && (await linkKnownContent(db.write, tenantId, file.id, claim))) return 'linked';
  const channel = await openChannel(resources, tenantId, channelId);
  const { info, spooled } = await download(
    resources,
    channel,
    file,
    AbortSignal.any([signal, AbortSignal.timeout(FETCH_TIMEOUT_MS)]),
  );
  try {
    metrics.mediaFetchedBytes.inc(spooled.size);
    const mismatch = mismatchOf(spooled, info, file);
    if (mismatch !== undefined) {
      if (file.attempts < MAX_MISMATCHES) throw new MismatchError(mismatch);
      log.warn({ tenantId, file: file.id, reason: mismatch }, 'a file is kept as the network sends it');
    }
    const digest = spooled.sha256.toString('hex');
    const storageKey = `${tenantId}/${digest.slice(0, 2)}/${digest}-${randomUUID()}`;
    await reserveKey(db.write, tenantId, storageKey, RESERVED_MS);
    await files.put(storageKey, spooled);
    const { sha256, size } = spooled;
    const isKept = await db.transaction(trx =>
      keepContent(trx, tenantId, { id: file.id, claim, mimeType: info.mimeType, sha256, size, storageKey }),
    );
    if (!isKept) throw new FileStoreError('storing a file', new Error('the process was suspended'));
    return 'kept';
  } finally {
    await spooled.discard();
  }
}

/**
 * How a received file differs from what the network says about it. Two digests are known, of the webhook and of the look-up: a file that has
 * either is complete.
 */
function mismatchOf(
  { sha256, size }: SpooledFile,
  info: MediaInfo,
  { expected_sha256: expected }: ClaimedFile,
): string | undefined {
  const digests = [hexDigest(info.sha256), expected?.toString('hex')].filter(digest => digest != null);
  if (digests.length > 0)
    return digests.includes(sha256.toString('hex')) ? undefined : `The file of ${size} bytes has another digest.`;
  return info.size === undefined || info.size === size ? undefined : `The file has ${size} of ${info.size} bytes.`;
}

/** The network has no such file at its own URL. */
class MissingError extends Error {
  override readonly name = 'MissingError';
}

async function download(
  { network, files }: FetchResources,
  channel: ChannelCredentials,
  { network_media_id: mediaId }: ClaimedFile,
  signal: AbortSignal,
): Promise<{ readonly info: MediaInfo; readonly spooled: SpooledFile }> {
  const info = await network.mediaInfo(channel, mediaId);
  if (info.size !== undefined && info.size > MAX_BYTES.document)
    throw new TooLargeError(`The file has ${info.size} bytes.`);
  const found = await network.downloadMedia(channel, info.url);
  if (!found) throw new MissingError('The network has no file at its URL.');
  const spooled = await files.receive(addAbortSignal(signal, found.stream), MAX_BYTES.document);
  if (found.status === 200) return { info, spooled };
  await spooled.discard();
  throw new NetworkCallError(`download: HTTP ${found.status}`);
}

/** @returns whether the file is given up, and otherwise whether other files would fail as well */
function judge(
  error: unknown,
  file: ClaimedFile,
): { readonly reason: string; readonly isFinal: boolean; readonly isAway: boolean } {
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, 500);
  if (error instanceof TooLargeError) return { reason, isFinal: true, isAway: false };
  const isMissing = error instanceof MissingError || (error instanceof NetworkCallError && error.error?.code === 100);
  if (isMissing) return { reason, isFinal: file.attempts >= MAX_MISSES, isAway: false };
  // Without credentials, all files of the channel wait for its operator.
  if (error instanceof FileStoreError || error instanceof NetworkCallError || error instanceof CodedError)
    return { reason, isFinal: false, isAway: true };
  return { reason, isFinal: false, isAway: false };
}

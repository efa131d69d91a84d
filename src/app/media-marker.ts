import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { type MediaMark, markMedia, readMediaMark } from '../database/deployment.ts';
import { SECOND } from '../platform/clock.ts';
import { FileStoreError } from '../platform/files/file-store.ts';
import { directoryMarker, MARKER, type Marker } from '../platform/files/marker.ts';
import type { Log } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';

type Media = Config['media'];

/**
 * The owner of a file store, by its marker. `new`: no marker, and this deployment has not marked a store of this kind yet. `missing`: no
 * marker, although this deployment has marked its store: usually an empty mount point or the wrong bucket. `foreign`: the marker of
 * another deployment, whose files this one would delete, because both number their tenants from 1.
 */
export type MediaOwner = 'ours' | 'new' | 'missing' | 'foreign';

/** @throws FileStoreError if the store does not answer */
export async function mediaOwner(media: Media, mark: MediaMark): Promise<MediaOwner> {
  return ownerBy(await (await markerOf(media)).read(), mark);
}

function ownerBy(marker: string | undefined, { deploymentId, isMarked }: MediaMark): MediaOwner {
  if (marker === undefined) return isMarked ? 'missing' : 'new';
  return marker.trim() === deploymentId ? 'ours' : 'foreign';
}

/** The marker in the store of files. Without a bucket, the S3 client is not loaded. */
const markerOf = async ({ s3, directory }: Media): Promise<Marker> =>
  s3 ? (await import('../platform/files/s3-store.ts')).s3Marker(s3) : directoryMarker(directory);

export const kindOf = ({ s3 }: Media): 'bucket' | 'directory' => (s3 ? 'bucket' : 'directory');

/** The store in messages to the operator. */
export const placeOf = ({ s3, directory }: Media): string =>
  s3 ? `The bucket ${s3.bucket}${s3.prefix === '' ? '' : `, below ${s3.prefix},`}` : resolve(directory);

/** Describes the fault of a store and its remedy. */
export const mediaFault = (
  media: Media,
  owner: 'missing' | 'foreign',
): { readonly finding: string; readonly advice: string } => FAULTS[kindOf(media)][owner];

const FAULTS = {
  directory: {
    missing: {
      finding: `has no ${MARKER}, which this deployment has written to its directory of files`,
      advice:
        'Mount the volume with the files of messages there, or set PARLEY_MEDIA_DIR to where they are. If the files were moved or lost, run `parley adopt-media`.',
    },
    foreign: {
      finding: `contains the files of another deployment (${MARKER})`,
      advice:
        'Set PARLEY_MEDIA_DIR to the directory of this deployment. If this database takes over the files, run `parley adopt-media`.',
    },
  },
  bucket: {
    missing: {
      finding: `has no ${MARKER}, which this deployment has written to its bucket`,
      advice:
        'Set PARLEY_MEDIA_S3_BUCKET and PARLEY_MEDIA_S3_PREFIX to where the files of messages are. If the files were moved or lost, run `parley adopt-media`.',
    },
    foreign: {
      finding: `contains the files of another deployment (${MARKER})`,
      advice:
        'Set PARLEY_MEDIA_S3_BUCKET or PARLEY_MEDIA_S3_PREFIX to a place of this deployment alone. If this database takes over the files, run `parley adopt-media`.',
    },
  },
} as const;

/**
 * Checks that the file store belongs to this deployment, and marks a new store.
 * @param log if given, a bucket that this deployment has marked before may be unavailable: the process starts, and files wait for the
 *   storage as in any outage
 * @throws UserError
 */
export async function claimMedia(
  { media }: Pick<Config, 'media'>,
  { write }: Pick<Database, 'write'>,
  log?: Log,
): Promise<void> {
  const kind = kindOf(media);
  const mark = await readMediaMark(write, kind);
  const owner = await claim(media, mark).catch((error: unknown) => {
    if (!(error instanceof FileStoreError)) throw error;
    if (!log || !mark.isMarked || kind === 'directory') throw unusable(media, error);
    log.warn({ err: error }, 'the bucket of files does not answer: its marker will be checked at the next start');
    return 'ours' as const;
  });
  if (owner !== 'ours') {
    const { finding, advice } = mediaFault(media, owner);
    throw new UserError(`${placeOf(media)} ${finding}. ${advice}`);
  }
  if (!mark.isMarked) await markMedia(write, kind);
}

/** How often a marker that another process is writing is read, once a second. */
const ATTEMPTS = 5;

async function claim(media: Media, mark: MediaMark): Promise<Exclude<MediaOwner, 'new'>> {
  const marker = await markerOf(media);
  // Without s3:ListBucket, Amazon S3 answers 403 instead of 404 for a missing marker. If it exists, the write below fails.
  let owner = ownerBy(await marker.read().catch(error => (mark.isMarked ? Promise.reject(error) : undefined)), mark);
  for (let attempt = 0; owner === 'new'; attempt += 1) {
    if (await marker.create(textOf(mark))) return 'ours';
    // Another process has written the marker, or is writing it.
    await wait(SECOND);
    owner = ownerBy(await marker.read(), mark);
    if (owner === 'new' && attempt === ATTEMPTS)
      throw new FileStoreError('writing the marker', 'another process is writing it; start again');
  }
  return owner;
}

const textOf = ({ deploymentId }: MediaMark): string => `${deploymentId}\n`;

const unusable = (media: Media, error: FileStoreError): UserError =>
  new UserError(
    media.s3
      ? `${placeOf(media)} cannot be used: ${error.message}. ${BUCKET_ADVICE}`
      : `Files of messages cannot be kept in ${placeOf(media)}: ${error.message}. Set PARLEY_MEDIA_DIR to a directory that this user can write.`,
    { cause: error },
  );

export const BUCKET_ADVICE =
  'Check the PARLEY_MEDIA_S3_… variables, that the bucket exists, and that the credentials may list, read, write and delete in it (docs/media.md).';

/** Marks a file store as that of this deployment, whatever its marker was. @throws UserError */
export async function adoptMedia(media: Media, { write }: Pick<Database, 'write'>): Promise<void> {
  const kind = kindOf(media);
  const mark = await readMediaMark(write, kind);
  const marker = await markerOf(media);
  await marker.replace(textOf(mark)).catch((error: unknown) => {
    throw error instanceof FileStoreError ? unusable(media, error) : error;
  });
  await markMedia(write, kind);
}

import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { type MediaMark, markMedia, readMediaMark } from '../database/deployment.ts';
import { UserError } from '../platform/user-error.ts';

/** Name of the marker in the directory of files: contains the id of the deployment whose files they are. */
const MARKER = '.deployment';

/**
 * Whose the directory of files is. `new`: nobody's, and this deployment has none yet. `missing`: this deployment has marked a
 * directory, and this one has no marker: usually it is the mount point without its volume. `foreign`: another deployment's.
 */
export type MediaOwner = 'ours' | 'new' | 'missing' | 'foreign';

export async function mediaOwner(directory: string, { deploymentId, isMarked }: MediaMark): Promise<MediaOwner> {
  const marker = await readMarker(directory);
  if (marker === undefined) return isMarked ? 'missing' : 'new';
  return marker === deploymentId ? 'ours' : 'foreign';
}

async function readMarker(directory: string): Promise<string | undefined> {
  try {
    return (await readFile(join(resolve(directory), MARKER), 'utf8')).trim();
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** What is wrong with a directory, and what to do. */
export const MEDIA_FAULTS: Readonly<
  Record<'missing' | 'foreign', { readonly finding: string; readonly advice: string }>
> = {
  missing: {
    finding: `has no ${MARKER}, which this deployment has written to its directory of files`,
    advice:
      'Mount the volume with the files of messages there, or set PARLEY_MEDIA_DIR to where they are. If the files were moved or lost, run `parley adopt-media`.',
  },
  foreign: {
    finding: `contains the files of another deployment (${MARKER})`,
    advice:
      'Set PARLEY_MEDIA_DIR to the directory of this deployment. If this database is a copy that takes over the files, run `parley adopt-media`.',
  },
};

/**
 * Checks that the directory of files is that of this deployment, and marks a new one. With a bucket the directory holds only files
 * that are being received, and has no marker.
 * @throws UserError
 */
export async function claimMedia({ media }: Pick<Config, 'media'>, { write }: Pick<Database, 'write'>): Promise<void> {
  if (media.s3) return;
  const mark = await readMediaMark(write);
  const owner = await mediaOwner(media.directory, mark);
  if (owner === 'missing' || owner === 'foreign') {
    const { finding, advice } = MEDIA_FAULTS[owner];
    throw new UserError(`${resolve(media.directory)} ${finding}. ${advice}`);
  }
  if (owner === 'new') await writeMarker(media.directory, mark.deploymentId);
  if (!mark.isMarked) await markMedia(write);
}

/** Makes a directory that of this deployment, whatever it was before. */
export async function adoptMedia({ directory }: Config['media'], { write }: Pick<Database, 'write'>): Promise<void> {
  const { deploymentId } = await readMediaMark(write);
  await writeMarker(directory, deploymentId);
  await markMedia(write);
}

/** Complete and durable when it resolves: processes that start together read the same id. */
async function writeMarker(directory: string, deploymentId: string): Promise<void> {
  const root = resolve(directory);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const written = join(root, `${MARKER}.${process.pid}`);
  const file = await open(written, 'w', 0o600);
  try {
    await file.writeFile(`${deploymentId}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(written, join(root, MARKER));
}

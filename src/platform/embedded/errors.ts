import { UserError } from '../user-error.ts';

const OWN_DATABASE = 'set DATABASE_URL=postgres://user:password@host:5432/database';

/** The sentence for a server or an `initdb` that ended early, chosen by what it wrote; the last lines are shown as they are. */
export function outputFault(output: string, place: { directory: string; port?: number; logFile?: string }): UserError {
  if (/No space left on device|Disk quota exceeded/.test(output)) return diskFull(place.directory);
  if (place.port !== undefined && addressInUse(output)) return portInUse(place.port);
  const lastLines = output.trimEnd().split('\n').slice(-8).join('\n  ');
  const log = place.logFile === undefined ? '' : `\nThe whole log: ${place.logFile}`;
  return new UserError(`The embedded PostgreSQL did not start. It wrote:\n  ${lastLines}${log}\n${advice(output)}`);
}

/** Whether a server ended because its port was taken between our look and its start. */
export function addressInUse(output: string): boolean {
  return /Address already in use|could not bind/.test(output);
}

/** The sentence for an error of the file system, of spawn or of a statement; anything else comes back unchanged, to be thrown as it is. */
export function systemFault(error: unknown, directory: string): unknown {
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case '53100': // disk_full, as a statement reports it
      return diskFull(directory, error);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new UserError(
        `Parley may not write in ${directory} (${(error as Error).message}). Give the directory to the user that runs Parley, use another directory, or ${OWN_DATABASE}.`,
        { cause: error },
      );
    default:
      return error;
  }
}

export function portInUse(port: number): UserError {
  return new UserError(
    `Port ${port} on 127.0.0.1, asked for the embedded PostgreSQL, is in use. Choose another port, or none to let Parley find one.`,
  );
}

export function packageMissing(target: string, cause: unknown): UserError {
  return new UserError(
    `The embedded PostgreSQL for ${target} is not installed. Install it with \`npm install --include=optional\`, or ${OWN_DATABASE}.`,
    { cause },
  );
}

export function packageIncomplete(name: string, cause: unknown): UserError {
  return new UserError(
    `The install script of ${name} has not run, and Parley may not do its work (${(cause as Error).message}). Run \`npm rebuild ${name}\` as the user that installed it, or ${OWN_DATABASE}.`,
    { cause },
  );
}

export function unsupportedSystem(detail: string): UserError {
  return new UserError(
    `The embedded PostgreSQL does not run on this system (${detail.trim()}). It needs Linux with glibc, or macOS. Otherwise ${OWN_DATABASE}.`,
  );
}

export function noServerUser(names: readonly string[]): UserError {
  return new UserError(
    `PostgreSQL refuses to run as root, and none of the users ${names.join(', ')} exists to run it instead. Start Parley as an ordinary user, or ${OWN_DATABASE}.`,
  );
}

export function cannotChangeUser(cause: unknown): UserError {
  return new UserError(
    `PostgreSQL refuses to run as root, and this root may not start it as another user (${(cause as Error).message}). Start Parley as an ordinary user, or ${OWN_DATABASE}.`,
    { cause },
  );
}

export function closedDirectory(directory: string, uid: number): UserError {
  return new UserError(
    `PostgreSQL refuses to run as root, and the user it runs as instead (uid ${uid}) cannot reach ${directory}. Open the directories above it with \`chmod o+x\`, or ${OWN_DATABASE}.`,
  );
}

export function otherMajorVersion(data: string, found: string, major: number): UserError {
  return new UserError(
    `The data in ${data} was written by PostgreSQL ${found}; this Parley brings PostgreSQL ${major}. Go back to the Parley that wrote it and dump it with pg_dump, or start with --reset to remove it.`,
  );
}

export function damagedCluster(data: string): UserError {
  return new UserError(
    `${data} exists but holds no PostgreSQL cluster (its file PG_VERSION is missing). Restore it from a backup, or start with --reset to remove it and begin anew.`,
  );
}

export function passwordMissing(file: string): UserError {
  return new UserError(
    `${file}, the password of the embedded PostgreSQL, is missing. Bring it back, or start with --reset to remove the database and begin anew.`,
  );
}

function diskFull(directory: string, cause?: unknown): UserError {
  return new UserError(
    `The disk that holds ${directory} is full: the embedded PostgreSQL could not write. Free some space and start again.`,
    { cause },
  );
}

function advice(output: string): string {
  if (/Permission denied|Operation not permitted/.test(output)) {
    return 'The user that runs PostgreSQL lacks a permission: give it the directory, or use another directory.';
  }
  if (/shared memory|semaphore/.test(output)) {
    return 'The system gives too little shared memory (in a container: --shm-size=256m); raise it and start again.';
  }
  return `If it stays so, ${OWN_DATABASE} to use a PostgreSQL of your own.`;
}

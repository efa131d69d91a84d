import { isRejected, isUnavailable } from '../database/unavailable.ts';
import { UserError } from '../platform/user-error.ts';

/** System errors caused by the user's files, addresses and permissions. */
const SYSTEM =
  /^(EACCES|EPERM|ENOENT|ENOTDIR|EISDIR|EEXIST|ENOTEMPTY|EROFS|ENOSPC|EDQUOT|EFBIG|ELOOP|ENAMETOOLONG|EMFILE|ENFILE|EADDRINUSE|EADDRNOTAVAIL)$/;

/** @returns a UserError if the user can fix the cause, otherwise the error itself */
export function explain(error: unknown): unknown {
  // Checked first: a system error other than a failed connection, such as a port in use, does not concern the database.
  if (isSystemFault(error) && error.syscall !== 'connect') return systemError(error);
  if (isRejected(error))
    return new UserError(`The database rejected the connection: ${(error as Error).message}. Check DATABASE_URL.`, {
      cause: error,
    });
  if (isUnavailable(error)) {
    const reason = error instanceof Error && error.message !== '' ? error.message : 'no response';
    return new UserError(
      `The database does not respond (${reason}). Check that it is running and that DATABASE_URL is correct, or start \`parley dev\`.`,
      { cause: error },
    );
  }
  return isSystemFault(error) ? systemError(error) : error;
}

/** Such as `EACCES: permission denied, mkdir '/srv/parley'`: the message names the file or the address. */
const systemError = (error: Error): UserError => new UserError(`${error.message}.`, { cause: error });

const isSystemFault = (error: unknown): error is Error & { readonly syscall: string } =>
  error instanceof Error && 'syscall' in error && SYSTEM.test(String((error as { code?: unknown }).code));

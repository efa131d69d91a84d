/**
 * An error whose message is for the user at the terminal: it says what is wrong and what to do.
 * The command line prints the message alone, without a stack trace, and exits with `exitCode`.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly exitCode: number;

  constructor(message: string, options: { cause?: unknown; exitCode?: number } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}

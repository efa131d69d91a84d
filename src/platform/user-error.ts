/**
 * A fault whose message is written for the person at the terminal: a sentence that says what is wrong and what to do.
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

/** Prints a line of progress to stderr; only results go to stdout. */
export function printProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Prints a line of the result to stdout. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

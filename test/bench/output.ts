/** A line of progress, on the error stream: the result alone goes to the other one. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A line of the result. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

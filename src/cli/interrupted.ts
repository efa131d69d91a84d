import { SIGNALS } from './until-stopped.ts';

/**
 * Runs `work`; a signal meanwhile says what it leaves, and then ends the process as it would have done.
 * @param leave called at the signal: undoes what must not be left. Returns the rest of the sentence that begins with `Interrupted: `
 */
export async function interruptible<T>(leave: () => string, work: () => Promise<T>): Promise<T> {
  const undo = (): void => {
    for (const signal of SIGNALS) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals): void => {
    // Below a progress bar, and the ^C of the terminal.
    process.stderr.write(`${process.stderr.isTTY ? '\n' : ''}Interrupted: ${leave()}\n`);
    undo();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work();
  } finally {
    undo();
  }
}

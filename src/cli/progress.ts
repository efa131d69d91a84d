export interface Progress {
  add(rows: number): void;
  end(): void;
}

/** Shows progress in one line, if standard error is a terminal. */
export function createProgress(what: string): Progress {
  let total = 0;
  const isTerminal = process.stderr.isTTY === true;
  return {
    add(rows) {
      total += rows;
      if (isTerminal) process.stderr.write(`\r${what}: ${total} rows`);
    },
    end() {
      if (isTerminal && total > 0) process.stderr.write('\n');
    },
  };
}

import { paint, type Terminal } from './style.ts';

export interface Progress {
  add(count: number): void;
  /** @param detail shown after the counts */
  set(done: number, total?: number, detail?: string): void;
  /** Keeps the last state on the screen. Also to be called after a failure. */
  end(): void;
}

interface ProgressOptions {
  /** Undefined: only the count is shown. */
  readonly total?: number | undefined;
  readonly unit?: string;
  /** If the output is not a terminal: prints a line for each change, for the log of a long job. Default: prints nothing there. */
  readonly lines?: boolean;
  readonly terminal?: Terminal;
}

const BAR_WIDTH = 24;
/** A terminal cannot show more, and each write costs a system call. */
const REDRAW_MS = 100;
const CLEAR_LINE = '\r\u001B[K';
const COLUMNS = 80;

const number = new Intl.NumberFormat('en');

/** Shows progress in one line of standard error: a bar, the percentage and the counts. */
export function createProgress(
  label: string,
  { total: initial, unit = 'rows', lines = false, terminal = process.stderr }: ProgressOptions = {},
): Progress {
  const isTerminal = terminal.isTTY === true;
  let state: State = { done: 0, total: initial, detail: '' };
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  let isStale = false;
  let logged = '';

  const draw = (): void => {
    terminal.write(`${CLEAR_LINE}${barLine(label, state, unit, terminal)}`);
    drawnAtMs = performance.now();
    [isDrawn, isStale] = [true, false];
  };
  const change = (next: State): void => {
    state = next;
    if (isTerminal) {
      isStale = true;
      if (performance.now() - drawnAtMs >= REDRAW_MS) draw();
    } else if (lines && countsOf(state, unit) !== logged) {
      logged = countsOf(state, unit);
      terminal.write(`${label}: ${logged}\n`);
    }
  };
  return {
    add: count => change({ ...state, done: state.done + count }),
    set: (done, total = state.total, detail = '') => change({ done, total, detail }),
    end() {
      if (isStale) draw();
      if (isDrawn) terminal.write('\n');
      isDrawn = false;
    },
  };
}

interface State {
  readonly done: number;
  readonly total: number | undefined;
  readonly detail: string;
}

function countsOf({ done, total, detail }: State, unit: string): string {
  const counts = `${number.format(done)}${total === undefined ? '' : ` of ${number.format(total)}`} ${unit}`;
  return detail === '' ? counts : `${counts} · ${detail}`;
}

/** Truncated to the width of the terminal, because a wrapped line could not be cleared. */
function barLine(label: string, state: State, unit: string, terminal: Terminal): string {
  const width = (terminal.columns ?? COLUMNS) - 1;
  const counts = countsOf(state, unit);
  if (state.total === undefined) return `${label}: ${counts}`.slice(0, width);
  // A total may be an estimate, or have been counted before others added to it.
  const share = state.total === 0 ? 1 : Math.min(1, state.done / state.total);
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  const room = Math.min(BAR_WIDTH, width - label.length - percent.length - counts.length - 5);
  if (room < 4) return `${label}:${percent} ${counts}`.slice(0, width);
  const filled = Math.round(share * room);
  const bar = paint('green', '█'.repeat(filled), terminal) + paint('dim', '░'.repeat(room - filled), terminal);
  return `${label}  ${bar} ${percent}  ${counts}`;
}

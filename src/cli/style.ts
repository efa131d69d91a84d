import { styleText } from 'node:util';

/** Properties of standard output and standard error that decide colours and progress bars. */
export type Terminal = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

type Style = Parameters<typeof styleText>[0];

/** Styles a text if it goes to a terminal that shows colours. Node reads NO_COLOR, which --no-color sets, and FORCE_COLOR. */
export const paint = (style: Style, text: string, terminal: Terminal): string =>
  styleText(style, text, { stream: terminal });

type Tone = 'green' | 'yellow' | 'red' | 'dim';

/** Columns whose values are states. A contact named "failed" is not red. */
const STATE_COLUMNS: ReadonlySet<string> = new Set(['status', 'state', 'applied']);

/** States of tenants, channels, campaigns, consents, migrations and findings. */
const TONES: Readonly<Record<string, Tone>> = {
  ok: 'green',
  active: 'green',
  running: 'green',
  completed: 'green',
  opted_in: 'green',
  warning: 'yellow',
  paused: 'yellow',
  scheduled: 'yellow',
  missing: 'yellow',
  draft: 'dim',
  disconnected: 'dim',
  cancelled: 'dim',
  opted_out: 'red',
  suspended: 'red',
  failed: 'red',
};

/** Colours the value of a column that holds a state. @param shown the value as it is printed, padded for instance */
export function paintState(column: string, value: string, shown: string, terminal: Terminal): string {
  const tone = STATE_COLUMNS.has(column) ? TONES[value] : undefined;
  return tone === undefined ? shown : paint(tone, shown, terminal);
}

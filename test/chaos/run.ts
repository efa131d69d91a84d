import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FAULTS, type Fault, type Pace } from './faults.ts';
import { sendTexts } from './load.ts';
import { type Rig, startRig, type Times } from './rig.ts';

const SECOND = 1_000;

interface Plan {
  readonly sends: number;
  readonly times: Times;
  readonly paces: Readonly<Record<string, Pace>>;
  /** What a backlog may take to drain after the fault is over. */
  readonly settleMs: number;
}

const pace = (durationMs: number, absenceMs: number, pauseMs: number): Pace => ({ durationMs, absenceMs, pauseMs });

/** The leases of production. */
const FULL: Plan = {
  sends: 10_000,
  times: { leaseMs: 20 * SECOND, requestTimeoutMs: 15 * SECOND, reconcileMs: 30 * SECOND },
  paces: {
    stopped: pace(300 * SECOND, 60 * SECOND, 10 * SECOND),
    killed: pace(120 * SECOND, 0, 15 * SECOND),
    database: pace(120 * SECOND, 45 * SECOND, 20 * SECOND),
    starved: pace(120 * SECOND, 0, 0),
    clocks: pace(180 * SECOND, 60 * SECOND, 10 * SECOND),
  },
  settleMs: 300 * SECOND,
};

const QUICK: Plan = {
  sends: 600,
  times: { leaseMs: 2 * SECOND, requestTimeoutMs: SECOND, reconcileMs: 3 * SECOND },
  paces: {
    stopped: pace(14 * SECOND, 4 * SECOND, SECOND),
    killed: pace(8 * SECOND, 0, 2 * SECOND),
    database: pace(10 * SECOND, 4 * SECOND, 2 * SECOND),
    starved: pace(8 * SECOND, 0, 0),
    clocks: pace(10 * SECOND, 4 * SECOND, SECOND),
  },
  settleMs: 60 * SECOND,
};

const HELP = `Usage: npm run chaos [-- [options] [fault …]]

Runs a PostgreSQL, an emulated network, a gateway and two workers as separate processes, sends messages, inflicts faults meanwhile,
and counts what the network got: lost (accepted and never sent) and doubled (sent more than once) have to be 0.

Faults (all of them when none is named):
${Object.entries(FAULTS)
  .map(([name, { about }]) => `  ${name.padEnd(9)} ${about}`)
  .join('\n')}

Options:
  --quick        about 90 seconds for all faults, with shortened leases and ${QUICK.sends} sends each
  --sends <n>    sends of each fault (${FULL.sends})
  --json         print the results as JSON
  --help         this

Exit code 1 if anything was lost or doubled.`;

interface Outcome {
  readonly fault: string;
  readonly accepted: number;
  readonly sent: number;
  readonly lost: number;
  readonly doubled: number;
  readonly unsettled: number;
  readonly seconds: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    sends: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) print(HELP);
else process.exitCode = await main();

async function main(): Promise<number> {
  const plan = values.quick ? QUICK : FULL;
  const sends = values.sends === undefined ? plan.sends : Number(values.sends);
  const unknown = positionals.filter(name => !Object.hasOwn(FAULTS, name));
  if (unknown.length > 0 || !Number.isInteger(sends) || sends < 1) {
    if (unknown.length > 0) say(`Unknown fault: ${unknown.join(', ')}. Choose from ${Object.keys(FAULTS).join(', ')}.`);
    if (!Number.isInteger(sends) || sends < 1) say('--sends takes a whole number from 1.');
    return 2;
  }
  const names = positionals.length > 0 ? positionals : Object.keys(FAULTS);
  const outcomes: Outcome[] = [];
  const rig = await startRig(plan.times);
  try {
    for (const name of names) {
      const [fault, faultPace] = [FAULTS[name], plan.paces[name]];
      if (fault && faultPace) outcomes.push(await run(rig, name, fault, faultPace, sends, plan));
    }
  } finally {
    await rig.stop();
  }
  if (values.json) print(JSON.stringify(outcomes, undefined, 2));
  else printTable(outcomes);
  return outcomes.every(({ lost, doubled, unsettled }) => lost + doubled + unsettled === 0) ? 0 : 1;
}

async function run(
  rig: Rig,
  name: string,
  fault: Fault,
  faultPace: Pace,
  sends: number,
  { settleMs, times }: Plan,
): Promise<Outcome> {
  say(`${name}: ${fault.about}`);
  const started = performance.now();
  const before = await rig.sent();
  const over = new AbortController();
  const inflicted = fault.inflict(rig, faultPace, over.signal);
  const ids = await sendTexts(rig, name, sends, faultPace.durationMs, accepted => {
    if (accepted % Math.ceil(sends / 4) === 0) say(`  ${accepted} of ${sends} accepted`);
  });
  over.abort();
  await inflicted;
  const unsettled = await settle(rig, settleMs);
  // A worker that was continued last may still have a call to make that it must not make any more.
  await sleep(times.requestTimeoutMs);
  const { byCallbackData, total } = await rig.sent();
  const isNew = ([id, count]: [string, number]): boolean => count > (before.byCallbackData[id] ?? 1);
  return {
    fault: name,
    accepted: ids.length,
    sent: total - before.total,
    lost: ids.filter(id => byCallbackData[id] === undefined).length,
    doubled: Object.entries(byCallbackData).filter(isNew).length,
    unsettled,
    seconds: Math.round((performance.now() - started) / SECOND),
  };
}

/** Waits until nothing waits to be sent. @returns what still waits after `withinMs` */
async function settle(rig: Rig, withinMs: number): Promise<number> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const backlog = await rig.backlog();
    if (backlog === 0 || performance.now() > deadline) return backlog;
    await sleep(500);
  }
}

function printTable(outcomes: readonly Outcome[]): void {
  const columns = ['fault', 'accepted', 'sent', 'lost', 'doubled', 'unsettled', 'seconds'] as const;
  const line = (cells: readonly unknown[]) => cells.map(cell => String(cell).padStart(10)).join('');
  print(line(columns));
  for (const outcome of outcomes) print(line(columns.map(column => outcome[column])));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints progress to stderr, so that the result on stdout can be piped. */
function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

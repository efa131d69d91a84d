import { parseArgs } from 'node:util';
import type { Options } from './contest.ts';
import { createFixture, type Fixture } from './fixture.ts';
import { printLine, printProgress } from './output.ts';
import { installPeers } from './peers.ts';
import { printResult, type Result } from './report.ts';

interface Benchmark {
  readonly about: string;
  readonly needsPeers: boolean;
  load(): Promise<(fixture: Fixture, options: Options) => Promise<Result | undefined>>;
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  list: {
    about:
      '50 contacts with source, status and groups, against PostGraphile 5, Apollo Server and a hand-written handler',
    needsPeers: true,
    load: async () => (await import('./benchmarks/list.ts')).list,
  },
  inbox: {
    about:
      'the inbox: counts and 50 conversations, against PostGraphile 5 and Apollo Server with dataloaders, same answer',
    needsPeers: true,
    load: async () => (await import('./benchmarks/inbox.ts')).inbox,
  },
  send: {
    about: 'a durable text over REST, against pgbench running the statements of commit 46c4cd9',
    needsPeers: false,
    load: async () => (await import('./benchmarks/send.ts')).send,
  },
  accept: {
    about: 'CPU and commits of a durable text with 1, 16 and 64 clients',
    needsPeers: false,
    load: async () => (await import('./benchmarks/accept.ts')).accept,
  },
  'new-contacts': {
    about: 'texts to new numbers, compared with texts to known contacts',
    needsPeers: false,
    load: async () => (await import('./benchmarks/accept.ts')).newContacts,
  },
  template: {
    about: 'a template over REST, compared with a text',
    needsPeers: false,
    load: async () => (await import('./benchmarks/template.ts')).template,
  },
  messages: {
    about: 'the first page of a million messages and the ten-thousandth, by cursor',
    needsPeers: false,
    load: async () => (await import('./benchmarks/messages.ts')).messages,
  },
  events: {
    about: 'events from their commit to a thousand subscribers over WebSocket, against a bare broadcast with ws',
    needsPeers: false,
    load: async () => (await import('./benchmarks/events.ts')).events,
  },
  webhooks: {
    about: 'events delivered to webhook endpoints, against bare loops with undici that sign and post the same',
    needsPeers: false,
    load: async () => (await import('./benchmarks/webhooks.ts')).webhooks,
  },
  statuses: {
    about: 'status webhooks of the network, 1,000 updates each: stored, and applied',
    needsPeers: false,
    load: async () => (await import('./benchmarks/statuses.ts')).statuses,
  },
  claim: {
    about: 'pages that a turn of a lane touches, by backlog, with the statistics of an empty table and current ones',
    needsPeers: false,
    load: async () => (await import('./benchmarks/claim.ts')).claim,
  },
  lanes: {
    about:
      'one message each of a thousand tenants, the first call of an idle lane, the cost of idling, the balance of two workers',
    needsPeers: false,
    load: async () => (await import('./benchmarks/lanes.ts')).lanes,
  },
  drain: {
    about:
      'a backlog of 1,000 and of 100,000 sent until it is read: CPU of each process, transactions, top statements (PARLEY_BENCH_BACKLOG, PARLEY_BENCH_MEASURED)',
    needsPeers: false,
    load: async () => (await import('./benchmarks/drain.ts')).drain,
  },
  erasure: {
    about: 'a person of ten thousand messages among a million, erased: seconds, and the slowest statements',
    needsPeers: false,
    load: async () => (await import('./benchmarks/erasure.ts')).erasure,
  },
  campaign: {
    about: "a campaign to a million contacts, started: PostgreSQL's CPU for each recipient, memory; and previewed",
    needsPeers: false,
    load: async () => (await import('./benchmarks/campaign.ts')).campaign,
  },
  'otp-under-campaign': {
    about:
      "one-time passwords, and another tenant's texts, while a campaign runs on the first tenant's number, compared with an idle gateway (PARLEY_BENCH_BACKLOG)",
    needsPeers: false,
    load: async () => (await import('./benchmarks/otp-under-campaign.ts')).otpUnderCampaign,
  },
  rest: {
    about: 'REST against the same operation over GraphQL',
    needsPeers: false,
    load: async () => (await import('./benchmarks/rest.ts')).rest,
  },
};

const HELP = `Usage: npm run bench [-- [options] [benchmark …]]

Measures ratios, in one run, on one machine: contestants take turns, and the result is the median over the rounds.
CPU is measured per process and request, because requests per second also depend on other load on the machine.

Benchmarks (all of them when none is named):
${Object.entries(BENCHMARKS)
  .map(([name, { about }]) => `  ${name.padEnd(18)} ${about}`)
  .join('\n')}

Options:
  --rounds <n>       measured rounds (5)
  --seconds <n>      duration of a round for each contestant (4)
  --connections <n>  concurrent clients (16)
  --json             print the results as JSON
  --help             prints this help

DATABASE_URL is a PostgreSQL server on which databases may be created; if it is not set, an embedded one is started.
Plans of all statements on a million rows: node test/bench/explain.ts --help`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '16' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) printLine(HELP);
else process.exitCode = await main(positionals);

async function main(names: readonly string[]): Promise<number> {
  const options = {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    connections: Number(values.connections),
  };
  const unknown = names.filter(name => !(name in BENCHMARKS));
  const wrong = Object.entries(options).filter(([, value]) => !Number.isFinite(value) || value <= 0);
  if (unknown.length > 0 || wrong.length > 0) {
    printProgress(
      `${unknown.length > 0 ? `There is no benchmark ${unknown.join(', ')}` : `--${wrong[0]?.[0]} takes a number above 0`}. See --help.`,
    );
    return 2;
  }
  const chosen = Object.entries(BENCHMARKS).filter(([name]) => names.length === 0 || names.includes(name));
  if (chosen.some(([, { needsPeers }]) => needsPeers)) await installPeers();
  const results: Result[] = [];
  for (const [, benchmark] of chosen) {
    // Each has its own database: the rows of one benchmark would slow the next.
    const fixture = await createFixture();
    try {
      const run = await benchmark.load();
      const result = await run(fixture, options);
      if (result) results.push(result);
    } finally {
      await fixture.leave();
    }
  }
  if (values.json)
    printLine(
      JSON.stringify(
        results.map(result => ({ ...result, samples: Object.fromEntries(result.samples) })),
        null,
        2,
      ),
    );
  else for (const result of results) printResult(result);
  return results.every(({ goals }) => goals.every(({ met }) => met)) ? 0 : 1;
}

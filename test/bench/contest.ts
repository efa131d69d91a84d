import type { Fixture } from './fixture.ts';
import { type Load, runLoad } from './load.ts';
import { printProgress } from './output.ts';
import { postgresCpu } from './postgres-cpu.ts';
import type { Server } from './server.ts';

/** What was measured in one round. */
export interface Sample {
  readonly perSecond: number;
  /** Microseconds of the server's process for one request; undefined where there is no server process (pgbench). */
  readonly serverCpu: number | undefined;
  /** Microseconds of all processes of PostgreSQL for one request; undefined where we cannot see them. */
  readonly databaseCpu: number | undefined;
  /** Milliseconds. */
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

export interface Contestant {
  readonly name: string;
  /** Runs for so long. */
  run(durationMs: number): Promise<Sample>;
}

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Everybody once without being measured (code gets hot, caches fill), then in turn, round by round: A B C A B C … */
export async function compete(
  contestants: readonly Contestant[],
  { rounds, seconds }: Options,
): Promise<Map<string, Sample>> {
  for (const contestant of contestants) await contestant.run(Math.max(3, seconds) * 1_000);
  const samples = new Map<string, Sample[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    const line: string[] = [];
    for (const contestant of contestants) {
      const sample = await contestant.run(seconds * 1_000);
      samples.get(contestant.name)?.push(sample);
      line.push(
        `${contestant.name} ${Math.round(sample.perSecond)}/s${sample.serverCpu === undefined ? '' : ` ${Math.round(sample.serverCpu)} µs`}`,
      );
    }
    printProgress(`  round ${round}/${rounds}: ${line.join(' · ')}`);
  }
  return new Map([...samples].map(([name, list]) => [name, medianSample(list)]));
}

function medianSample(samples: readonly Sample[]): Sample {
  const of = (key: keyof Sample): number | undefined => median(samples.flatMap(sample => sample[key] ?? []));
  return {
    perSecond: of('perSecond') ?? 0,
    serverCpu: of('serverCpu'),
    databaseCpu: of('databaseCpu'),
    p50: of('p50'),
    p99: of('p99'),
  };
}

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : [sorted[middle - 1], sorted[middle]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** A server that is asked over HTTP. */
export function overHttp(
  name: string,
  server: Server,
  fixture: Fixture,
  load: Omit<Load, 'durationMs' | 'url'>,
): Contestant {
  return {
    name,
    async run(durationMs) {
      const before = { server: await server.cpu(), database: await postgresCpu(fixture.pool) };
      const { requests, seconds, p50, p99 } = await runLoad({ ...load, url: server.url, durationMs });
      const after = { server: await server.cpu(), database: await postgresCpu(fixture.pool) };
      return {
        perSecond: requests / seconds,
        serverCpu: (after.server - before.server) / requests,
        databaseCpu:
          before.database === undefined || after.database === undefined
            ? undefined
            : (after.database - before.database) / requests,
        p50,
        p99,
      };
    },
  };
}

import { createDatabase } from '../../../src/database/database.ts';
import { membersWhere } from '../../../src/features/campaigns/audience/members.sql.ts';
import { countPeople } from '../../../src/features/campaigns/preview/preview.sql.ts';
import { prepareChunk } from '../../../src/features/campaigns/run/prepare.ts';
import { createLog } from '../../../src/platform/log.ts';
import { testLane } from '../../support/lane.ts';
import { addTenant } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { printLine, printProgress } from '../output.ts';
import { postgresCpu } from '../postgres-cpu.ts';
import { atMost, type Result } from '../report.ts';

const RECIPIENTS = Number(process.env['PARLEY_BENCH_RECIPIENTS'] ?? 1_000_000);
const MB = 1024 * 1024;

/**
 * A campaign to a million contacts: PostgreSQL's CPU for each recipient that its start writes, the memory of the process meanwhile, and
 * the seconds of a preview. Without statistics of the tables, as right after an import.
 */
export async function campaign(fixture: Fixture): Promise<Result> {
  printProgress(`campaign: filling ${RECIPIENTS} contacts …`);
  const tenant = await addTenant(fixture.pool, 'campaign', RECIPIENTS, 0);
  const { rows } = await fixture.pool.query<{ id: string }>(
    `insert into campaigns (tenant_id, name, status, channel_id, template, audience, author)
     values ($1, 'Bench', 'running', $2, '{"name":"news","language":"en"}', '{"filter":{}}', '{"kind":"system","id":null,"name":"bench"}') returning id`,
    [tenant.id, tenant.channelId],
  );
  const id = Number(rows[0]?.id);
  const db = createDatabase({
    url: fixture.url,
    poolSize: 2,
    readers: 1,
    log: createLog('silent'),
    statementTimeoutMs: 120_000,
  });
  try {
    const lane = testLane('campaigns', tenant.id, `${tenant.id}:${id}`);
    printProgress('campaign: starting …');
    const memory = process.memoryUsage().rss;
    const [cpu, began] = [await postgresCpu(fixture.pool), performance.now()];
    let most = 0;
    while (await prepareChunk({ db }, lane, tenant.id, id)) most = Math.max(most, process.memoryUsage().rss - memory);
    const seconds = (performance.now() - began) / 1_000;
    const used = ((await postgresCpu(fixture.pool)) ?? Number.NaN) - (cpu ?? Number.NaN);
    const written = await fixture.pool.query<{ total: number }>('select total from campaigns where tenant_id = $1', [
      tenant.id,
    ]);
    printProgress('campaign: previewing …');
    const members = membersWhere({ text: 'c.tenant_id = $1', values: [tenant.id] });
    const query = { category: 'marketing', channelId: null, cap: { messages: 2, days: 7 } };
    const from = performance.now();
    const people = await countPeople(db.write, members, query);
    const previewSeconds = (performance.now() - from) / 1_000;
    printLine('');
    return {
      title: `campaign: ${written.rows[0]?.total} recipients started`,
      samples: new Map(),
      goals: [
        atMost('µs of PostgreSQL CPU a recipient', used / RECIPIENTS, 60),
        atMost('MB more memory', most / MB, 50),
      ],
      notes: [
        `Started in ${seconds.toFixed(1)} s; previewed in ${previewSeconds.toFixed(1)} s, ${people.length} rows.`,
      ],
    };
  } finally {
    await db.close();
  }
}

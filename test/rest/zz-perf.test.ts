import { afterAll, beforeAll, it } from 'vitest';
import { print } from 'graphql';
import { Agent, request } from 'undici';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ListContactsDocument } from '../../src/rest/v2/documents.generated.ts';
let g: TestGateway;
beforeAll(async () => { g = await startGateway({ env: { PARLEY_LOG_LEVEL: 'silent' } }); });
afterAll(() => g.stop());
it('perf', async () => {
  await g.rest('POST', '/contacts/batch', { contacts: Array.from({ length: 200 }, (_, i) => ({ phone: '+49151' + (30_000_000 + i), firstname: 'N' + i, company: 'C' })) });
  await g.database.query("update tenants set plan_id = plan_id");
  const dispatcher = new Agent({ connections: 8 });
  const query = print(ListContactsDocument);
  const variables = { first: 50, offset: 0, search: null, filter: null, orderBy: null, source: false, sourceId: true, status: false, statusId: true, assignedId: true, groups: false, groupId: true, window: true };
  const token = () => g.addToken(g.tenant, { callsPerMinute: 6000 });
  const rest = async (t: string) => { const r = await request(g.url + '/api/v2/contacts?per_page=50', { dispatcher, headers: { authorization: 'Bearer ' + t } }); const b = await r.body.text(); if (r.statusCode !== 200) throw new Error(b); return b; };
  const gql = async (t: string) => { const r = await request(g.url + '/graphql', { dispatcher, method: 'POST', headers: { authorization: 'Bearer ' + t, 'content-type': 'application/json' }, body: JSON.stringify({ query, variables }) }); const b = await r.body.text(); if (r.statusCode !== 200 || b.includes('"errors"')) throw new Error(b.slice(0, 300)); return b; };
  for (let round = 0; round < 4; round += 1) for (const [name, f] of [['gql', gql], ['rest', rest]] as const) {
    const t = await token();
    for (let i = 0; i < 60; i += 1) await f(t);
    g.statements.length = 0; g.logs.length = 0;
    const cpu = process.cpuUsage(); const start = performance.now();
    const n = 400;
    let done = 0;
    await Promise.all(Array.from({ length: 4 }, async () => { while (done < n) { done += 1; await f(t); } }));
    const used = process.cpuUsage(cpu);
    console.log(name, ((performance.now() - start) / n).toFixed(3), 'ms', ((used.user + used.system) / n).toFixed(0), 'us cpu', (await f(t)).length, 'bytes');
  }
}, 60000);

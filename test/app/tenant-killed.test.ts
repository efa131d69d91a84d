import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/gateway.ts';
import { holdLock } from '../support/lock.ts';
import { freePort, kill, setWebhookUrl } from '../support/processes.ts';
import { type Plant, startPlant } from './processes.ts';

/** The deletion of a tenant is killed in the middle, and repeated while people go on writing to the tenant. */

let plant: Plant;
beforeAll(async () => {
  plant = await startPlant({}, { PARLEY_LANE_LEASE_MS: '2000' });
});
afterAll(() => plant.stop());

const deletion = () => plant.startCommand('tenant', 'delete', 'plant', '--yes');

/** Tables with rows of any tenant: there is only one. */
async function tablesWithRows(): Promise<string[]> {
  const tables = await plant.database.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`,
  );
  const found = await Promise.all(
    tables.map(async ({ name }) =>
      (await plant.database.query(`select from ${name} limit 1`)).length > 0 ? [name] : [],
    ),
  );
  return found.flat();
}

/** People write, some of them with a file, until it is stopped. */
function write(): { stop(): Promise<void> } {
  let isOver = false;
  const all = (async () => {
    for (let n = 0; !isOver; n += 1) {
      const from = `+491522${4_000_000 + n}`;
      const dataBase64 = Buffer.from(`document ${n}`).toString('base64');
      const document = { type: 'document', from, mimeType: 'application/pdf', dataBase64 };
      const body = JSON.stringify(n % 5 === 0 ? document : { from, text: `Hello ${n}` });
      await (await fetch(`${plant.emulatorUrl}/_emulator/inbound`, { method: 'POST', body })).text();
      await new Promise(done => setTimeout(done, 20));
    }
  })();
  return {
    async stop() {
      isOver = true;
      await all;
    },
  };
}

test('a deletion that was killed is repeated while messages arrive, and leaves no row and no file', async () => {
  const gateway = await plant.startGateway(await freePort());
  await setWebhookUrl(plant.emulatorUrl, gateway.url);
  const people = write();
  await eventually(async () =>
    expect(await plant.database.query("select from media_files where state = 'kept'")).not.toEqual([]),
  );
  const lock = await holdLock(plant.database, 'select from contacts order by id limit 1 for update');
  const killed = deletion();
  await eventually(async () =>
    expect(await lock.waiting()).toContainEqual(expect.stringMatching(/^\s*delete from contacts\b/)),
  );
  await kill(killed);
  await lock.release();
  const [code] = (await once(deletion(), 'exit')) as [number | null];
  expect(code).toBe(0);
  expect(await tablesWithRows()).toEqual([]);
  expect((await readdir(plant.mediaDirectory)).sort()).toEqual(['.deployment', 'incoming']);
  await people.stop();
  expect(await gateway.end()).toBe(0);
});

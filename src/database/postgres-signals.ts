import type pg from 'pg';
import type { Log } from '../platform/log.ts';
import type { SignalTransport } from '../platform/signals.ts';

const CHANNEL = 'parley';
const RECONNECT_MS = 1_000;

/** Signals over PostgreSQL's NOTIFY, on a dedicated connection. */
export function createPostgresTransport(connect: () => Promise<pg.Client>, log: Log): SignalTransport {
  let callbacks: Parameters<SignalTransport['open']>[0] | undefined;
  let client: pg.Client | undefined;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let closed = false;

  function reconnect(reason: unknown): void {
    if (closed || reconnectTimer) return;
    log.warn({ err: reason }, 'the PostgreSQL connection for signals was lost; reconnecting');
    reconnectTimer = setTimeout(() => {
      reconnectTimer = undefined;
      void listen();
    }, RECONNECT_MS);
  }

  /** Replaces a connection, which is still open if only a statement failed: a standby refuses LISTEN. */
  function lose(opened: pg.Client, reason: unknown): void {
    opened.end().catch(() => undefined);
    if (client === opened) client = undefined;
    if (!client) reconnect(reason);
  }

  async function listen(): Promise<void> {
    const opened = await connect().catch(reconnect);
    if (!opened) return;
    opened.on('error', reason => lose(opened, reason));
    opened.on('notification', message => {
      if (message.processId !== processIdOf(opened)) callbacks?.onMessage(message.payload ?? '');
    });
    try {
      await opened.query(`listen ${CHANNEL}`);
      if (closed) await opened.end();
      else client = opened;
      callbacks?.onReady();
    } catch (error) {
      lose(opened, error);
    }
  }

  return {
    open(given) {
      callbacks = given;
      void listen();
    },
    isReady: () => client !== undefined,
    async send(message) {
      const opened = client;
      await opened?.query('select pg_notify($1, $2)', [CHANNEL, message]).catch(reason => lose(opened, reason));
    },
    async close() {
      closed = true;
      clearTimeout(reconnectTimer);
      await client?.end();
    },
  };
}

/** pg has the backend's process id, but does not declare it in its types. */
const processIdOf = (client: pg.Client): number | undefined => (client as { processID?: number }).processID;

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
    client = undefined;
    if (closed || reconnectTimer) return;
    log.warn({ err: reason }, 'the PostgreSQL connection for signals was lost; reconnecting');
    reconnectTimer = setTimeout(() => {
      reconnectTimer = undefined;
      void listen();
    }, RECONNECT_MS);
  }

  async function listen(): Promise<void> {
    try {
      const opened = await connect();
      opened.on('error', reconnect);
      opened.on('notification', message => {
        if (message.processId !== processIdOf(opened)) callbacks?.onMessage(message.payload ?? '');
      });
      await opened.query(`listen ${CHANNEL}`);
      if (closed) await opened.end();
      else client = opened;
      callbacks?.onReady();
    } catch (error) {
      reconnect(error);
    }
  }

  return {
    open(given) {
      callbacks = given;
      void listen();
    },
    isReady: () => client !== undefined,
    async send(message) {
      await client?.query('select pg_notify($1, $2)', [CHANNEL, message]).catch(reconnect);
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

import { setTimeout as wait } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { SECOND } from './clock.ts';

/** Prometheus metrics of one process. */
export interface Metrics {
  readonly registry: Registry;
  readonly httpDuration: Histogram<'route' | 'method' | 'status'>;
  readonly messageAttempts: Counter<'outcome'>;
  readonly webhooksReceived: Counter<'outcome'>;
  readonly changesUnhandled: Counter<'field' | 'reason'>;
  readonly webhookAttempts: Counter<'outcome'>;
  readonly webhookLag: Histogram;
  readonly integrationRequests: Counter<'outcome'>;
  readonly integrationDeliveries: Counter<'outcome'>;
  readonly eventsRead: Counter;
  readonly subscribers: Gauge;
  readonly deprecatedFields: Counter<'field'>;
  readonly mediaFetches: Counter<'outcome'>;
  readonly mediaFetchedBytes: Counter;
}

/**
 * Metrics of the process itself (CPU, memory, event loop), created once for all gateways of the process: prom-client cannot stop its
 * observers, which run a timer of 10 ms and would keep each stopped gateway in memory.
 */
let ofProcess: Registry | undefined;

function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess, prefix: 'parley_' });
  }
  return ofProcess;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  for (const metric of processMetrics().getMetricsAsArray()) registry.registerMetric(metric as unknown as Metric);
  const registers = [registry];
  return {
    registry,
    httpDuration: new Histogram({
      name: 'parley_http_request_duration_seconds',
      help: 'Time from the request headers to the end of the response, by route.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    messageAttempts: new Counter({
      name: 'parley_messages_attempted_total',
      help: 'Attempts to send a message, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    webhooksReceived: new Counter({
      name: 'parley_network_webhooks_total',
      help: 'Webhooks received from the network, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    changesUnhandled: new Counter({
      name: 'parley_network_changes_unhandled_total',
      help: 'Webhook changes of the network that were stored instead of applied, by field and reason.',
      labelNames: ['field', 'reason'],
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'parley_webhook_attempts_total',
      help: 'Attempts to deliver an event to a webhook endpoint, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    webhookLag: new Histogram({
      name: 'parley_webhook_lag_seconds',
      help: 'Time from an event to the first attempt to deliver it.',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
      registers,
    }),
    integrationRequests: new Counter({
      name: 'parley_integration_requests_total',
      help: 'Requests from shops, by response.',
      labelNames: ['outcome'],
      registers,
    }),
    integrationDeliveries: new Counter({
      name: 'parley_integration_deliveries_total',
      help: 'Payloads from shops, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    deprecatedFields: new Counter({
      name: 'parley_graphql_deprecated_fields_total',
      help: 'Operations that use a deprecated field or argument of the schema, by field.',
      labelNames: ['field'],
      registers,
    }),
    eventsRead: new Counter({
      name: 'parley_events_read_total',
      help: 'Events read from the log by the tailer.',
      registers,
    }),
    mediaFetches: new Counter({
      name: 'parley_media_fetches_total',
      help: 'Attempts to fetch a file from the network and keep it, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    mediaFetchedBytes: new Counter({
      name: 'parley_media_fetched_bytes_total',
      help: 'Bytes of files fetched from the network.',
      registers,
    }),
    subscribers: new Gauge({ name: 'parley_subscribers', help: 'Open subscriptions of this process.', registers }),
  };
}

/** The gateway works without Redis, so readiness does not depend on it; this metric shows outages. */
export function observeRedis(registry: Registry, acceptsWrites: () => boolean): void {
  new Gauge({
    name: 'parley_redis_ready',
    help: 'Whether Redis is available and accepts writes and signals (1). Otherwise (0), this process counts rate limits by itself, or signals are delayed, or both.',
    registers: [registry],
    collect() {
      this.set(acceptsWrites() ? 1 : 0);
    },
  });
}

/** Prometheus gives a scrape ten seconds by default, and loses all metrics of the process when it takes longer. */
const SCRAPE_READ_MS = 2 * SECOND;

/** Gauges of the file store. @param totals the database's counters, read at each scrape */
export function observeMedia(
  registry: Registry,
  totals: () => Promise<{ readonly files: number; readonly bytes: number; readonly waiting: number }>,
): void {
  const help = {
    files: 'Kept files of messages, of all tenants.',
    bytes: 'Size of the kept files of messages in bytes.',
    waiting: 'Files that wait to be fetched from the network.',
  };
  const read = readAtScrape(totals);
  for (const name of ['files', 'bytes', 'waiting'] as const)
    new Gauge({
      name: `parley_media_${name}`,
      help: help[name],
      registers: [registry],
      async collect() {
        const current = await read();
        if (current) this.set(current[name]);
      },
    });
}

/**
 * Reads the database for the gauges of a scrape, which are collected concurrently, once; also once for all scrapes while it is slow. A scrape
 * must neither fail with the database nor wait for it: the result is undefined then, and the last values stay.
 */
function readAtScrape<Values>(query: () => Promise<Values>): () => Promise<Values | undefined> {
  let reading: Promise<Values> | undefined;
  return () => {
    reading ??= query().finally(() => {
      reading = undefined;
    });
    return Promise.race([reading, wait(SCRAPE_READ_MS, undefined, { ref: false })]).catch(() => undefined);
  };
}

/** Gauges of the readers of the event log. @param status read at each scrape */
export function observeReaders(
  registry: Registry,
  status: () => Promise<readonly { readonly name: string; readonly lag_seconds: number; readonly set_aside: number }[]>,
): void {
  const read = readAtScrape(status);
  new Gauge({
    name: 'parley_log_reader_lag_seconds',
    help: 'Age of the oldest event that a reader of the log (webhooks, bots, campaigns) has not consumed; 0 if there is none.',
    labelNames: ['reader'],
    registers: [registry],
    async collect() {
      for (const { name, lag_seconds } of (await read()) ?? []) this.set({ reader: name }, lag_seconds);
    },
  });
  new Gauge({
    name: 'parley_log_events_set_aside',
    help: 'Events that a reader of the log could not consume, set aside until `parley readers retry`.',
    labelNames: ['reader'],
    registers: [registry],
    async collect() {
      for (const { name, set_aside } of (await read()) ?? []) this.set({ reader: name }, set_aside);
    },
  });
}

/** @param openWriter the transaction that holds back the event log, with the seconds since it was first seen */
export function observeHorizon(
  registry: Registry,
  openWriter: () => { readonly seconds: number; readonly pid: string; readonly application: string } | undefined,
): void {
  new Gauge({
    name: 'parley_log_horizon_age_seconds',
    help: 'Seconds for which an open transaction has held back the event log; 0 if there is none.',
    registers: [registry],
    collect() {
      this.set(openWriter()?.seconds ?? 0);
    },
  });
  new Gauge({
    name: 'parley_log_open_writer_seconds',
    help: 'Seconds for which the transaction with these labels has held back the event log; absent unless it has for 5 s.',
    labelNames: ['pid', 'application'],
    registers: [registry],
    collect() {
      this.reset();
      const writer = openWriter();
      if (writer && writer.pid !== '') this.set({ pid: writer.pid, application: writer.application }, writer.seconds);
    },
  });
}

import { z } from 'zod';
import { SECOND } from './platform/clock.ts';
import type { S3Options } from './platform/files/s3-store.ts';
import { type AddressRange, parseRange } from './platform/public-address.ts';
import { UserError } from './platform/user-error.ts';

/** Everything that can be set from outside. Optional parts are unions: off, or on with all their keys. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Origin under which clients reach this server, without a slash at the end. Absent: signed URLs are relative. */
  readonly publicUrl: string | undefined;
  /** Absent: `parley dev` starts an embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** Set if DATABASE_URL is that of PgBouncer in transaction mode: connections that need a session use `directUrl`. */
  readonly pgbouncer: { readonly directUrl: string } | undefined;
  readonly database: {
    /** Connections for leases of lanes, at most. */
    readonly leaseConnections: number;
    /** Connections for writes and transactions, at most. */
    readonly poolSize: number;
    /** Pipelined connections for reads, at most. */
    readonly readers: number;
    /** Longest wait for a connection. */
    readonly connectTimeoutMs: number;
    /** Longest run of a statement. */
    readonly statementTimeoutMs: number;
    /** An idle connection is closed after this. */
    readonly idleMs: number;
    /** `serve` waits this long for a database that is starting. */
    readonly waitMs: number;
  };
  /** Several processes share their rate limits and signals through it; absent: limits in memory, signals by PostgreSQL. */
  readonly redis: { readonly url: string; readonly prefix: string; readonly timeoutMs: number } | undefined;
  /** 32 bytes. Encrypts stored secrets, and is the HMAC key of one-time passwords. */
  readonly secretKey: Uint8Array | undefined;
  /** During a key rotation: decrypts values encrypted with it, and encrypts nothing. */
  readonly previousSecretKey: Uint8Array | undefined;
  readonly logLevel: string;
  /** Number of proxies in front of this server, one behind the other, each of which adds to X-Forwarded-For; 0: it is not trusted. */
  readonly trustedProxies: number;
  /** Largest request body in bytes. */
  readonly bodyLimit: number;
  /** Host names of this server, in addition to loopback names and `host`. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may call the API: `https://app.example`, or `*` for all. Pages of the gateway's own origin always may. */
  readonly corsOrigins: readonly string[];
  /** Off, or on. In development with the bearer token that the page starts with. */
  readonly graphiql: false | { readonly token: string | undefined };
  readonly network: {
    readonly baseUrl: string;
    readonly version: string;
    readonly requestTimeoutMs: number;
    /** How long `waitForAcceptance` waits for the network to accept a message. */
    readonly acceptanceTimeoutMs: number;
    /** How long a send without a response waits for its status webhook before it is retried. */
    readonly reconcileMs: number;
  };
  readonly lanes: {
    /** Channels that one process sends on at a time. A channel without messages gives up its slot when others wait. */
    readonly channels: number;
    /** Maximum number of lanes that one process drains at a time, for each other queue. */
    readonly concurrency: number;
    /** Lease duration: how long the lanes of a crashed process stay blocked. */
    readonly leaseMs: number;
  };
  /** Limits of one-time passwords, in addition to those of the REST contract. */
  readonly otp: {
    /** Codes for one phone number in any 24 hours, including resends. */
    readonly sendsPerDay: number;
    /** Wrong codes for one phone number in any 24 hours. */
    readonly failuresPerDay: number;
    /** Codes of one tenant per clock hour. */
    readonly tenantSendsPerHour: number;
    /** Whether contacts that opted out receive one-time passwords. */
    readonly toOptedOut: boolean;
  };
  readonly webhooks: {
    /** Whether endpoints may use http as well as https. */
    readonly allowHttp: boolean;
    /** Private address ranges that endpoints may be in. */
    readonly allowedRanges: readonly AddressRange[];
    /** Timeout of a delivery, from name resolution to the last byte of the response. */
    readonly timeoutMs: number;
  };
  /** File with message prices by country and category; undefined: costs are unknown. */
  readonly pricesFile: string | undefined;
  /** Where files of messages are kept. */
  readonly media: {
    /** Stores all files or, with `s3`, only uploads in progress. */
    readonly directory: string;
    readonly s3: S3Options | undefined;
  };
  /** Retention periods in days. Contacts, messages and templates are kept until they are deleted. */
  readonly retention: {
    /** Files of messages; undefined: as long as their message. */
    readonly mediaDays: number | undefined;
    /** Events: how far back subscribers can resume and webhooks can be replayed. */
    readonly eventsDays: number;
    /** Raw webhooks received from the network and from shops. */
    readonly receivedDays: number;
    /** Logs of webhook deliveries and bot runs. */
    readonly logsDays: number;
  };
  /** Announced end of REST version 1, in milliseconds since 1970; undefined: not announced. */
  readonly v1SunsetMs: number | undefined;
  /** Port of the emulator of `parley dev`. Undefined: 4010 or, if that is in use, any free port. */
  readonly emulatorPort: number | undefined;
  /** Whether an npm script started this process: `parley dev` then also stops when npm has ended. */
  readonly startedByNpm: boolean;
}

/** Disables colours through the environment, which Node and commander read themselves. */
export function disableColors(env: NodeJS.ProcessEnv = process.env): void {
  delete env['FORCE_COLOR'];
  delete env['CLICOLOR_FORCE'];
  env['NO_COLOR'] = '1';
}

const integer = (minimum: number, maximum: number) =>
  z
    .string()
    .transform(Number)
    .refine(
      value => Number.isInteger(value) && value >= minimum && value <= maximum,
      `must be a whole number from ${minimum} to ${maximum}`,
    );
const flag = z.enum(['true', 'false', '1', '0']).transform(value => value === 'true' || value === '1');
/** `true` is one proxy. */
const proxies = z
  .string()
  .regex(/^(true|false|\d|10)$/, 'must be true, false, or a number of proxies from 0 to 10')
  .transform(value => (value === 'true' ? 1 : value === 'false' ? 0 : Number(value)));

const secretKey = z.string().transform((text, context) => {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (key.length === 32) return new Uint8Array(key);
  context.addIssue({
    code: 'custom',
    message: 'must be 32 bytes as base64 or hex, for example from: openssl rand -base64 32',
  });
  return z.NEVER;
});

const addressRanges = z.string().transform((text, context) => {
  const ranges: AddressRange[] = [];
  for (const part of text.split(',').map(item => item.trim())) {
    const range = parseRange(part);
    if (range) ranges.push(range);
    else
      context.addIssue({
        code: 'custom',
        message: `"${part}" is not an address range in CIDR notation, such as 10.0.0.0/8 or fd00::/8`,
      });
  }
  return ranges;
});

const postgresUrl = z.url({
  protocol: /^postgres(ql)?$/,
  hostname: /^[^,]*$/, // Of several, pg makes the name of one.
  error: 'must look like postgres://user:password@host:5432/database, with one host',
});

const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must look like https://parley.example.com' })
  .refine(text => !/[?#]/.test(text), 'must have no query and no fragment')
  .transform(text => text.replace(/\/+$/, ''));

const hostNames = z
  .string()
  .regex(/^[\w.:-]+( *, *[\w.:-]+)*$/, 'must be names without ports, such as parley.local, gateway.internal')
  .transform(text => text.split(',').map(name => name.trim()));

const origins = z.string().transform((text, context) => {
  const given = text.split(',').map(item => item.trim());
  for (const origin of given)
    if (origin !== '*' && URL.parse(origin)?.origin !== origin)
      context.addIssue({
        code: 'custom',
        message: `"${origin}" is not an origin: use a URL without a path, such as https://app.example, or * for all`,
      });
  return given;
});

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: integer(0, 65_535).default(4000),
  PARLEY_PUBLIC_URL: publicUrl.optional(),
  DATABASE_URL: postgresUrl.optional(),
  PARLEY_PGBOUNCER: flag.default(false),
  PARLEY_DIRECT_DATABASE_URL: postgresUrl.optional(),
  PARLEY_DATABASE_POOL: integer(1, 200).default(10),
  PARLEY_DATABASE_READERS: integer(1, 32).default(3),
  PARLEY_DATABASE_CONNECT_TIMEOUT_MS: integer(100, 60_000).default(5_000),
  PARLEY_DATABASE_STATEMENT_TIMEOUT_MS: integer(100, 600_000).default(15_000),
  PARLEY_DATABASE_IDLE_MS: integer(100, 3_600_000).default(30_000),
  PARLEY_DATABASE_WAIT_SECONDS: integer(0, 3_600).default(60),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must look like redis://user:password@host:6379/0, or rediss:// for TLS' })
    .optional(),
  PARLEY_REDIS_PREFIX: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be up to 64 letters, digits, _ . or -')
    .default('parley'),
  PARLEY_REDIS_TIMEOUT_MS: integer(10, 60_000).default(250),
  PARLEY_SECRET_KEY: secretKey.optional(),
  PARLEY_PREVIOUS_SECRET_KEY: secretKey.optional(),
  PARLEY_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  PARLEY_TRUST_PROXY: proxies.default(0),
  PARLEY_BODY_LIMIT: integer(1_024, 64 * 1024 * 1024).default(2 * 1024 * 1024),
  PARLEY_GRAPHIQL: flag.default(false),
  PARLEY_ALLOWED_HOSTS: hostNames.default([]),
  PARLEY_CORS_ORIGINS: origins.default([]),
  PARLEY_NETWORK_URL: z.url({ protocol: /^https?$/ }).default('https://graph.facebook.com'),
  PARLEY_NETWORK_VERSION: z
    .string()
    .regex(/^v\d+\.\d+$/)
    .default('v24.0'),
  PARLEY_NETWORK_TIMEOUT_MS: integer(100, 120_000).default(15_000),
  PARLEY_ACCEPTANCE_TIMEOUT_MS: integer(100, 60_000).default(5_000),
  PARLEY_RECONCILE_MS: integer(100, 600_000).default(30_000),
  PARLEY_DATABASE_LEASES: integer(1, 4).default(2),
  PARLEY_LANES: integer(1, 1_000).optional(),
  PARLEY_LANE_LEASE_MS: integer(500, 120_000).default(15_000),
  PARLEY_OTP_SENDS_PER_DAY: integer(1, 1_000).default(10),
  PARLEY_OTP_FAILURES_PER_DAY: integer(1, 1_000).default(20),
  PARLEY_OTP_TENANT_SENDS_PER_HOUR: integer(1, 10_000_000).default(1_000),
  PARLEY_OTP_TO_OPTED_OUT: flag.default(true),
  PARLEY_WEBHOOK_ALLOW_HTTP: flag.default(false),
  PARLEY_WEBHOOK_ALLOWED_RANGES: addressRanges.default([]),
  PARLEY_WEBHOOK_TIMEOUT_MS: integer(100, 60_000).default(15_000),
  // Deliveries to webhook endpoints are retried for more than three days, and read their event each time.
  PARLEY_KEEP_EVENTS_DAYS: integer(4, 3_650).default(30),
  // The network redelivers webhooks for up to seven days; duplicates are detected by the stored ones.
  PARLEY_KEEP_RECEIVED_DAYS: integer(7, 3_650).default(14),
  PARLEY_KEEP_LOGS_DAYS: integer(4, 3_650).default(30),
  PARLEY_PRICES: z.string().min(1).optional(),
  PARLEY_MEDIA_DIR: z.string().min(1).default('.parley/media'),
  PARLEY_MEDIA_S3_BUCKET: z.string().min(3).max(63).optional(),
  PARLEY_MEDIA_S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must look like https://s3.example.com' }).optional(),
  PARLEY_MEDIA_S3_REGION: z.string().min(1).default('us-east-1'),
  PARLEY_MEDIA_S3_PREFIX: z
    .string()
    .regex(/^([\w.-]+\/)*$/, 'must end with a slash, such as parley/')
    .default(''),
  PARLEY_MEDIA_S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  PARLEY_MEDIA_S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  // The network itself keeps files for seven days.
  PARLEY_KEEP_MEDIA_DAYS: integer(7, 36_500).optional(),
  PARLEY_EMULATOR_PORT: integer(0, 65_535).optional(),
  PARLEY_V1_SUNSET: z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a date, such as 2027-12-31')
    .optional(),
  npm_lifecycle_event: z.string().optional(),
});

/** Names of all variables. */
export const VARIABLES: readonly string[] = Object.keys(environment.shape);

type Present = Readonly<Record<string, string | undefined>>;

/** Required variables of `serve`, with an example of each. */
const REQUIRED = {
  DATABASE_URL: 'postgres://user:password@host:5432/database',
  PARLEY_SECRET_KEY: '32 bytes as base64, for example from `openssl rand -base64 32`',
} as const;

const missing = (present: Present, required: readonly (keyof typeof REQUIRED)[]): string[] =>
  required.filter(name => present[name] === undefined).map(name => `${name}: is required: ${REQUIRED[name]}`);

/** Faults in combinations of variables that are valid separately. */
function contradictions(present: Present): string[] {
  const faults: string[] = [];
  const [current, previous] = [present['PARLEY_SECRET_KEY'], present['PARLEY_PREVIOUS_SECRET_KEY']].map(
    text => secretKey.safeParse(text).data,
  );
  if (current && previous && Buffer.compare(current, previous) === 0)
    faults.push('PARLEY_PREVIOUS_SECRET_KEY: must be another key than PARLEY_SECRET_KEY');
  const isPgbouncer = flag.safeParse(present['PARLEY_PGBOUNCER'] ?? 'false').data;
  const isDirect = present['PARLEY_DIRECT_DATABASE_URL'] !== undefined;
  if (isPgbouncer === true && !isDirect)
    faults.push(
      'PARLEY_DIRECT_DATABASE_URL: is required with PARLEY_PGBOUNCER: the address of the PostgreSQL server itself',
    );
  if (isPgbouncer === false && isDirect)
    faults.push('PARLEY_DIRECT_DATABASE_URL: is used only with PARLEY_PGBOUNCER=true');
  const [bucket, endpoint, id, secret] = ['BUCKET', 'ENDPOINT', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'].map(
    name => present[`PARLEY_MEDIA_S3_${name}`],
  );
  if (bucket === undefined && (endpoint ?? id ?? secret) !== undefined)
    faults.push('PARLEY_MEDIA_S3_BUCKET: is required with the other PARLEY_MEDIA_S3_ variables');
  if ((id === undefined) !== (secret === undefined))
    faults.push('PARLEY_MEDIA_S3_ACCESS_KEY_ID, PARLEY_MEDIA_S3_SECRET_ACCESS_KEY: set both or neither');
  return faults;
}

/** The configuration of `serve`. @throws UserError as `loadConfig` does, and for missing required variables */
export const loadServeConfig = (): Config & { readonly databaseUrl: string; readonly secretKey: Uint8Array } =>
  loadConfig(process.env, ['DATABASE_URL', 'PARLEY_SECRET_KEY']) as ReturnType<typeof loadServeConfig>;

/**
 * Reads the environment, once.
 * @throws UserError that lists every fault by variable
 */
export function loadConfig(
  env: NodeJS.ProcessEnv = process.env,
  required: readonly (keyof typeof REQUIRED)[] = [],
): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(present);
  const faults = [
    ...(parsed.error?.issues ?? []).map(issue => `${issue.path.join('.')}: ${issue.message}`),
    ...missing(present, required),
    ...contradictions(present),
  ];
  if (!parsed.success || faults.length > 0)
    throw new UserError(`The configuration is not valid:\n${faults.map(fault => `  ${fault}`).join('\n')}`);
  const values = parsed.data;
  return {
    host: values.HOST,
    port: values.PORT,
    publicUrl: values.PARLEY_PUBLIC_URL,
    databaseUrl: values.DATABASE_URL,
    pgbouncer:
      values.PARLEY_DIRECT_DATABASE_URL === undefined ? undefined : { directUrl: values.PARLEY_DIRECT_DATABASE_URL },
    database: {
      leaseConnections: values.PARLEY_DATABASE_LEASES,
      poolSize: values.PARLEY_DATABASE_POOL,
      readers: values.PARLEY_DATABASE_READERS,
      connectTimeoutMs: values.PARLEY_DATABASE_CONNECT_TIMEOUT_MS,
      statementTimeoutMs: values.PARLEY_DATABASE_STATEMENT_TIMEOUT_MS,
      idleMs: values.PARLEY_DATABASE_IDLE_MS,
      waitMs: values.PARLEY_DATABASE_WAIT_SECONDS * SECOND,
    },
    redis:
      values.REDIS_URL === undefined
        ? undefined
        : {
            url: values.REDIS_URL,
            prefix: values.PARLEY_REDIS_PREFIX,
            timeoutMs: values.PARLEY_REDIS_TIMEOUT_MS,
          },
    secretKey: values.PARLEY_SECRET_KEY,
    previousSecretKey: values.PARLEY_PREVIOUS_SECRET_KEY,
    logLevel: values.PARLEY_LOG_LEVEL,
    trustedProxies: values.PARLEY_TRUST_PROXY,
    bodyLimit: values.PARLEY_BODY_LIMIT,
    allowedHosts: values.PARLEY_ALLOWED_HOSTS,
    corsOrigins: values.PARLEY_CORS_ORIGINS,
    graphiql: values.PARLEY_GRAPHIQL && { token: undefined },
    network: {
      baseUrl: values.PARLEY_NETWORK_URL,
      version: values.PARLEY_NETWORK_VERSION,
      requestTimeoutMs: values.PARLEY_NETWORK_TIMEOUT_MS,
      acceptanceTimeoutMs: values.PARLEY_ACCEPTANCE_TIMEOUT_MS,
      reconcileMs: values.PARLEY_RECONCILE_MS,
    },
    lanes: {
      concurrency: values.PARLEY_LANES ?? 20,
      channels: values.PARLEY_LANES ?? 64,
      leaseMs: values.PARLEY_LANE_LEASE_MS,
    },
    otp: {
      sendsPerDay: values.PARLEY_OTP_SENDS_PER_DAY,
      failuresPerDay: values.PARLEY_OTP_FAILURES_PER_DAY,
      tenantSendsPerHour: values.PARLEY_OTP_TENANT_SENDS_PER_HOUR,
      toOptedOut: values.PARLEY_OTP_TO_OPTED_OUT,
    },
    webhooks: {
      allowHttp: values.PARLEY_WEBHOOK_ALLOW_HTTP,
      allowedRanges: values.PARLEY_WEBHOOK_ALLOWED_RANGES,
      timeoutMs: values.PARLEY_WEBHOOK_TIMEOUT_MS,
    },
    pricesFile: values.PARLEY_PRICES,
    media: { directory: values.PARLEY_MEDIA_DIR, s3: s3Of(values) },
    retention: {
      mediaDays: values.PARLEY_KEEP_MEDIA_DAYS,
      eventsDays: values.PARLEY_KEEP_EVENTS_DAYS,
      receivedDays: values.PARLEY_KEEP_RECEIVED_DAYS,
      logsDays: values.PARLEY_KEEP_LOGS_DAYS,
    },
    v1SunsetMs: values.PARLEY_V1_SUNSET === undefined ? undefined : Date.parse(values.PARLEY_V1_SUNSET),
    emulatorPort: values.PARLEY_EMULATOR_PORT,
    startedByNpm: values.npm_lifecycle_event !== undefined,
  };
}

function s3Of({
  PARLEY_MEDIA_S3_BUCKET: bucket,
  PARLEY_MEDIA_S3_ENDPOINT: endpoint,
  PARLEY_MEDIA_S3_REGION: region,
  PARLEY_MEDIA_S3_PREFIX: prefix,
  PARLEY_MEDIA_S3_ACCESS_KEY_ID: accessKeyId,
  PARLEY_MEDIA_S3_SECRET_ACCESS_KEY: secretAccessKey,
}: z.output<typeof environment>): Config['media']['s3'] {
  if (bucket === undefined) return undefined;
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return { bucket, endpoint, region, prefix, credentials };
}

import { onTestFinished } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { createCloudApiNetwork } from '../../src/network/cloud-api/client.ts';
import type { ChannelCredentials, Network, OutgoingMessage } from '../../src/network/network.ts';
import { createLog } from '../../src/platform/log.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export const APP_SECRET = 'app-secret';
export const VERIFY_TOKEN = 'verify-me';
export const PERSON = '+14155550123';

export const NUMBER = {
  phoneNumberId: '106540352242922',
  wabaId: '419561257915477',
  displayPhoneNumber: '+1 555 078 3881',
  verifiedName: "Jasper's Market",
  accessToken: 'token-of-jaspers-market',
};

export const CHANNEL: ChannelCredentials = {
  phoneNumberId: NUMBER.phoneNumberId,
  wabaId: NUMBER.wabaId,
  accessToken: NUMBER.accessToken,
};

export const log = createLog('silent');

export interface TestNetwork {
  readonly emulator: Emulator;
  readonly receiver: Receiver;
  readonly network: Network;
  /** A request to the emulator's Graph API with a valid token. */
  graph(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ): Promise<{ status: number; headers: Headers; body: GraphBody }>;
  /** A request to the control API. */
  control(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
}

/** The parts of a Graph API response that tests check. */
export interface GraphBody {
  readonly error?: {
    code: number;
    type: string;
    message: string;
    error_subcode?: number;
    error_data?: { details: string };
  };
  readonly messages?: readonly { id: string; message_status?: string }[];
  readonly contacts?: readonly { input: string; wa_id?: string; user_id?: string }[];
  readonly data?: readonly Record<string, unknown>[];
  readonly paging?: { cursors: { before: string; after: string }; next?: string };
  readonly id?: string;
  readonly [key: string]: unknown;
}

/** An emulator, a webhook receiver and a client over real sockets, stopped after the test. Delays are short. */
export async function startNetwork(options: Partial<EmulatorOptions> = {}): Promise<TestNetwork> {
  const receiver = await startReceiver(APP_SECRET, VERIFY_TOKEN);
  const emulator = await startEmulator({
    appSecret: APP_SECRET,
    verifyToken: VERIFY_TOKEN,
    numbers: [NUMBER],
    webhookUrl: receiver.url,
    delays: { sentMs: 1, deliveredMs: 15, readMs: 30, templateReviewMs: 10 },
    log,
    ...options,
    // Statuses arrive in the order in which they were posted.
    faults: { webhookConnections: 1, ...options.faults },
  });
  const network = createClient(emulator.url);
  onTestFinished(async () => {
    await emulator.stop();
    await receiver.close();
  });
  return {
    emulator,
    receiver,
    network,
    async graph(method, path, body, token = NUMBER.accessToken) {
      const answer = await fetch(`${emulator.url}/v24.0/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as GraphBody };
    },
    async control(method, path, body) {
      const answer = await fetch(`${emulator.url}/_emulator/${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
  };
}

/** With generous timeouts; tests of timeouts set their own. */
export function createClient(baseUrl: string, requestMs = 60_000, connectMs = 60_000): Network {
  const network = createCloudApiNetwork({ baseUrl, log, timeouts: { connectMs, requestMs } });
  onTestFinished(() => network.close());
  return network;
}

export function text(callbackData: string, body = 'Hello', to = PERSON): OutgoingMessage {
  return { callbackData, to, content: { type: 'text', text: body, previewUrl: false } };
}

/** Polls until an expectation holds; fails after half a minute. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end; ) {
    if (holds()) return;
    await new Promise(resolve => setTimeout(resolve, 3));
  }
  throw new Error(`never came true: ${what}`);
}

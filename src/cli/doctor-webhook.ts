import { randomUUID } from 'node:crypto';
import type { DevFacts } from './database.ts';
import { type Finding, failed, ok, warning } from './findings.ts';

const PATH = '/network/cloud-api/webhook';
const CHECK = 'webhook address';

interface WebhookTarget {
  readonly publicUrl: string | undefined;
  /** The development gateway in this directory; its emulator posts to it. */
  readonly dev: Pick<DevFacts, 'baseUrl' | 'verifyToken'> | undefined;
  /** The database has only the digests of verify tokens. Undefined: only the route is tested. */
  readonly verifyToken: string | undefined;
  /** Undefined: no request is made. */
  readonly timeoutMs: number | undefined;
}

/** Examines the address to which the network posts: how it is configured, and whether the route answers from here. */
export async function examineWebhookAddress(target: WebhookTarget): Promise<Finding[]> {
  const { publicUrl, dev, timeoutMs } = target;
  const baseUrl = publicUrl ?? dev?.baseUrl;
  const findings = [configured(publicUrl, dev !== undefined)];
  if (baseUrl === undefined || timeoutMs === undefined) return findings;
  return [...findings, await probe(`${baseUrl}${PATH}`, target.verifyToken ?? dev?.verifyToken, timeoutMs)];
}

const ADVICE = 'Set PARLEY_PUBLIC_URL to the https address under which the network and browsers reach this gateway.';

function configured(publicUrl: string | undefined, isDev: boolean): Finding {
  const check = 'public address';
  if (publicUrl?.startsWith('https://')) return ok(check, `the network posts to ${publicUrl}${PATH}`);
  if (publicUrl !== undefined) return warning(check, `${publicUrl} is not https`, ADVICE);
  if (isDev) return ok(check, 'not needed: the network is the emulator of this directory');
  return warning(check, 'PARLEY_PUBLIC_URL is not set: the webhook address cannot be examined', ADVICE);
}

/** Sends the network's verification request. Only Parley answers a wrong verify token with 403. */
async function probe(url: string, verifyToken: string | undefined, timeoutMs: number): Promise<Finding> {
  const challenge = randomUUID();
  const target = new URL(url);
  target.searchParams.set('hub.mode', 'subscribe');
  target.searchParams.set('hub.challenge', challenge);
  target.searchParams.set('hub.verify_token', verifyToken ?? randomUUID());
  let answer: Response;
  let body: string;
  try {
    // The network follows no redirect.
    answer = await fetch(target, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    body = await answer.text();
  } catch (error) {
    return failed(
      CHECK,
      `${url} does not answer from here: ${reasonOf(error)}`,
      'Start `parley serve`, and check the name, the certificate, the proxy and the firewall. If this host cannot reach its own public address, use --no-network.',
    );
  }
  if (answer.status === 200 && body === challenge) return ok(CHECK, `${url} answers the verification`);
  if (answer.status === 403 && body === '{"error":"forbidden"}')
    return verifyToken === undefined
      ? ok(CHECK, `${url} answers; with --verify-token its verification is tested, too`)
      : failed(
          CHECK,
          `${url} rejects the verify token`,
          'Use the token that was given to `parley channel connect`, or direct the address to the gateway of this database.',
        );
  const location = answer.headers.get('location');
  return failed(
    CHECK,
    location === null
      ? `${url} answers ${answer.status}, not as the webhook route of Parley does`
      : `${url} redirects to ${location}, which the network does not follow`,
    `Configure the proxy to pass ${PATH} to a gateway of this deployment, unchanged and without authentication.`,
  );
}

/** The message of `fetch` is always "fetch failed"; its cause has the reason. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { message, code } = cause as { readonly message?: string; readonly code?: unknown };
  return message || String(code ?? cause);
}

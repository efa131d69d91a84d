import type { Lane } from '../../../lanes/lane.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { VERSION } from '../../../platform/version.ts';
import type { Resources } from '../../../schema/context.ts';
import type { OpenTarget } from '../endpoints/target.ts';
import { type AttemptedDelivery, type PublicAttempt, RESPONSE_BYTES, storableText } from '../log/delivery.ts';
import { renderBody } from './formats.ts';
import { plainSignatureOf, signatureOf } from './signature.ts';
import { judge, type Verdict } from './verdict.ts';

/** A delivery with its event. */
export interface ReadyDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly is_test: boolean;
  /** Number of attempts made. */
  readonly attempts: number;
  /** Number of attempts since it was queued or replayed. */
  readonly attempts_since_queued: number;
  readonly created_at: string;
  readonly payload: JsonObject;
  readonly occurred_at: string;
  readonly is_sandbox: boolean | null;
}

/** An attempt with its consequences. */
export interface Attempted {
  /** Without times: the database sets them when the attempt is recorded. */
  readonly delivery: AttemptedDelivery;
  readonly attempt: PublicAttempt;
  readonly attemptsSinceQueued: number;
  readonly verdict: Verdict;
  readonly timedOut: boolean;
}

/**
 * Makes one attempt to deliver an event. Writes nothing to the database.
 * @returns undefined if the process stops during the attempt, or lost the lane before it: nothing is known about the receiver
 */
export async function attemptDelivery(
  resources: Resources,
  lane: Pick<Lane, 'mayCall'>,
  { target, url, headers, keys }: OpenTarget,
  ready: ReadyDelivery,
): Promise<Attempted | undefined> {
  const { clock, config, publicHttp, metrics } = resources;
  const startMs = clock.now();
  const body = renderBody(target.format, {
    id: ready.event_id,
    type: ready.event_type,
    occurredAt: ready.occurred_at,
    payload: ready.payload,
    tenant: { id: target.tenant_id, name: target.tenant_name, slug: target.tenant_slug },
    isSandbox: ready.is_sandbox ?? false,
  });
  const timestamp = Math.floor(startMs / SECOND);
  const began = performance.now();
  const outcome = await publicHttp.post({
    url,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'user-agent': `Parley/${VERSION}`,
      'webhook-id': ready.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf(keys, ready.id, timestamp, body),
      'x-webhook-signature': plainSignatureOf(keys[0], body),
      'x-webhook-event': ready.event_type,
    },
    body,
    timeoutMs: config.webhooks.timeoutMs,
    keepBytes: RESPONSE_BYTES,
    mayCall: () => lane.mayCall(),
  });
  if (outcome.kind === 'closed' || outcome.kind === 'withheld') return undefined;
  const attemptsSinceQueued = ready.attempts_since_queued + 1;
  const verdict = judge(outcome, {
    attemptsSinceQueued,
    isTest: ready.is_test,
    nowMs: clock.now(),
    jitter: Math.random(),
  });
  metrics.webhookAttempts.inc({ outcome: verdict.status === 'pending' ? 'retried' : verdict.status });
  if (ready.attempts === 0) metrics.webhookLag.observe(Math.max(0, startMs - Date.parse(ready.created_at)) / SECOND);
  return {
    delivery: {
      id: ready.id,
      endpoint_id: target.id,
      event_id: ready.event_id,
      event_type: ready.event_type,
      is_test: ready.is_test,
      status: verdict.status,
      attempts: ready.attempts + 1,
      error: null,
      created_at: ready.created_at,
    },
    attempt: {
      number: ready.attempts + 1,
      at: new Date(startMs).toISOString(),
      status: outcome.kind === 'answer' ? outcome.status : null,
      duration_ms: Math.round(performance.now() - began),
      response: outcome.kind === 'answer' ? storableText(outcome.body) : null,
      error: verdict.error,
    },
    attemptsSinceQueued,
    verdict,
    timedOut: outcome.kind === 'failure' && outcome.timedOut,
  };
}

import type { Resources } from '../../context.ts';
import { SECOND } from '../../platform/clock.ts';
import type { JsonObject } from '../../platform/json.ts';
import { VERSION } from '../../platform/version.ts';
import { type PublicAttempt, type PublicDelivery, RESPONSE_BYTES, storableText } from './delivery.ts';
import { renderBody } from './formats.ts';
import { plainSignatureOf, signatureOf } from './signature.ts';
import type { OpenTarget } from './target.ts';
import { judge, type Verdict } from './verdict.ts';

/** A delivery with its event. */
export interface Ready {
  readonly id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly is_test: boolean;
  /** So far. */
  readonly attempts: number;
  /** So far, since it was put into the queue. */
  readonly tries: number;
  readonly created_at: string;
  readonly payload: JsonObject;
  readonly occurred_at: string;
  readonly is_sandbox: boolean | null;
}

/** An attempt that was made, and what it means. */
export interface Attempted {
  readonly delivery: PublicDelivery;
  readonly attempt: PublicAttempt;
  readonly tries: number;
  readonly verdict: Verdict;
  readonly timedOut: boolean;
}

/**
 * Tries once to deliver an event, and says what came of it; writes nothing.
 * @returns undefined when we went away before it had ended: nothing can be said of the receiver
 */
export async function attemptDelivery(
  resources: Resources,
  { target, url, headers, keys }: OpenTarget,
  ready: Ready,
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
  });
  if (outcome.kind === 'closed') return undefined;
  const nowMs = clock.now();
  const tries = ready.tries + 1;
  const verdict = judge(outcome, { tries, isTest: ready.is_test, nowMs, jitter: Math.random() });
  metrics.webhookAttempts.inc({ outcome: verdict.status === 'pending' ? 'retried' : verdict.status });
  if (ready.attempts === 0) metrics.webhookLag.observe(Math.max(0, startMs - Date.parse(ready.created_at)) / SECOND);
  const settled = verdict.status !== 'pending';
  return {
    delivery: {
      id: ready.id,
      endpoint_id: target.id,
      event_id: ready.event_id,
      event_type: ready.event_type,
      is_test: ready.is_test,
      status: verdict.status,
      attempts: ready.attempts + 1,
      next_attempt_at: verdict.nextAttemptMs === null ? null : new Date(verdict.nextAttemptMs).toISOString(),
      error: null,
      created_at: ready.created_at,
      settled_at: settled ? new Date(nowMs).toISOString() : null,
    },
    attempt: {
      number: ready.attempts + 1,
      at: new Date(startMs).toISOString(),
      status: outcome.kind === 'answer' ? outcome.status : null,
      duration_ms: Math.round(performance.now() - began),
      response: outcome.kind === 'answer' ? storableText(outcome.body) : null,
      error: verdict.error,
    },
    tries,
    verdict,
    timedOut: outcome.kind === 'failure' && outcome.timedOut,
  };
}

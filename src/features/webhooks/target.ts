import type { SecretBox } from '../../platform/crypto.ts';
import type { Target } from './endpoints-store.ts';
import type { CustomHeader } from './headers.ts';
import { type SigningKey, signingKey } from './signature.ts';

/** Why nothing is sent to an endpoint any more; undefined: it may be sent to. */
export function stoppedFor(target: Target | undefined): string | undefined {
  if (!target) return 'the endpoint was deleted';
  if (!target.enabled) return 'the endpoint is disabled';
  return target.tenant_status === 'active' ? undefined : 'the tenant is suspended';
}

/** An endpoint with its secrets opened. */
export interface OpenTarget {
  readonly target: Target;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the secrets that live, the newest first. */
  readonly keys: readonly [SigningKey, ...SigningKey[]];
}

/** @throws when a secret was sealed under another key */
export function openTarget(box: SecretBox, target: Target, nowMs: number): OpenTarget {
  const { secret, previous_secret: previous, previous_secret_until: until, headers } = target;
  const isLiving = previous !== null && until !== null && Date.parse(until) > nowMs;
  const keyOf = (sealed: Buffer): SigningKey => signingKey(box.open(sealed));
  const custom = headers ? (JSON.parse(box.open(headers)) as CustomHeader[]) : [];
  return {
    target,
    url: new URL(target.url),
    headers: Object.fromEntries(custom.map(({ name, value }) => [name.toLowerCase(), value])),
    keys: isLiving ? [keyOf(secret), keyOf(previous)] : [keyOf(secret)],
  };
}

export const sealHeaders = (box: SecretBox, headers: readonly CustomHeader[]): Buffer | null =>
  headers.length > 0 ? box.seal(JSON.stringify(headers)) : null;

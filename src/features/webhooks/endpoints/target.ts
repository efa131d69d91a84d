import type { SecretBox } from '../../../platform/crypto.ts';
import type { CustomHeader } from '../delivery/headers.ts';
import { type SigningKey, signingKey } from '../delivery/signature.ts';
import type { Target } from './targets.sql.ts';

/** The error of deliveries that ended because their endpoint was disabled. */
export const DISABLED = 'the endpoint is disabled';

/** Returns why an endpoint is not delivered to; undefined if it is. */
export function disabledReasonOf(target: Target | undefined): string | undefined {
  if (!target) return 'the endpoint was deleted';
  if (!target.enabled) return DISABLED;
  return target.tenant_status === 'active' ? undefined : 'the tenant is suspended';
}

/** An endpoint with its secrets opened. */
export interface OpenTarget {
  readonly target: Target;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the valid secrets, newest first. */
  readonly keys: readonly [SigningKey, ...SigningKey[]];
}

/** @throws if a secret was sealed under an unknown key */
export function openTarget(box: SecretBox, target: Target): OpenTarget {
  const { secret, previous_secret: previous, headers } = target;
  const keyOf = (sealed: Buffer): SigningKey => signingKey(box.open(sealed));
  return {
    target,
    url: new URL(target.url),
    headers: Object.fromEntries(openHeaders(box, headers).map(({ name, value }) => [name.toLowerCase(), value])),
    keys: previous ? [keyOf(secret), keyOf(previous)] : [keyOf(secret)],
  };
}

export const openHeaders = (box: SecretBox, headers: Buffer | null): CustomHeader[] =>
  headers ? (JSON.parse(box.open(headers)) as CustomHeader[]) : [];

export const sealHeaders = (box: SecretBox, headers: readonly CustomHeader[]): Buffer | null =>
  headers.length > 0 ? box.seal(JSON.stringify(headers)) : null;

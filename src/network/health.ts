import type { JsonObject } from '../platform/json.ts';

/** Changed fields of a channel's health. */
export interface HealthPatch {
  readonly quality?: string;
  /** Unique recipients per day outside service windows; null: unlimited. */
  readonly messagingLimit?: number | null;
  readonly throughput?: string;
  readonly nameStatus?: string;
  readonly nameReason?: string | null;
  readonly requestedName?: string;
  readonly accountReview?: string;
  readonly accountStatus?: string;
  readonly username?: string | null;
  readonly usernameStatus?: string;
  /** Whether messages can be sent: AVAILABLE, LIMITED or BLOCKED. */
  readonly canSend?: string;
  /** Null: what blocked it is gone. */
  readonly lastError?: { readonly code: number; readonly title: string; readonly details: string } | null;
  /** Each replaces the stored restriction of its type. */
  readonly restrictions?: readonly Restriction[];
  /** All restrictions are lifted. */
  readonly isReinstated?: true;
}

export interface Restriction {
  readonly type: string;
  readonly expiresAt: string | null;
  readonly remediation: string | null;
}

/** Health of a business number, as the network answers when asked. */
export interface NumberHealth {
  readonly patch: HealthPatch;
  /** The answer, unchanged. */
  readonly details: JsonObject;
}

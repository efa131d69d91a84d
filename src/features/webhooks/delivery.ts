export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** An event for one endpoint, as tables, events and lists have it. */
export interface PublicDelivery {
  /** The `webhook-id` of every attempt. */
  readonly id: string;
  readonly endpoint_id: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly is_test: boolean;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  /** Why it ended, where no attempt says so. */
  readonly error: string | null;
  readonly created_at: string;
  readonly settled_at: string | null;
}

export type DeliveryRow = PublicDelivery;

export const DELIVERY_COLUMNS = [
  'id',
  'endpoint_id',
  'event_id',
  'event_type',
  'is_test',
  'status',
  'attempts',
  'next_attempt_at',
  'error',
  'created_at',
  'settled_at',
] as const satisfies readonly (keyof PublicDelivery)[];

/** One attempt at a delivery. */
export interface PublicAttempt {
  /** 1, 2, … */
  readonly number: number;
  readonly at: string;
  /** Of HTTP; null where no complete answer came. */
  readonly status: number | null;
  readonly duration_ms: number;
  /** The first kilobyte of what was answered. */
  readonly response: string | null;
  readonly error: string | null;
}

export interface AttemptRow extends PublicAttempt {
  readonly delivery_id: string;
}

export const ATTEMPT_COLUMNS = [
  'number',
  'at',
  'status',
  'duration_ms',
  'response',
  'error',
] as const satisfies readonly (keyof PublicAttempt)[];

/** So much of an answer is kept. */
export const RESPONSE_BYTES = 1_024;

/** The beginning of an answer as text that can be stored: a character that was cut at the end is left out. */
export const storableText = (bytes: Buffer): string =>
  // In a stream's manner, the decoder keeps back a last character that is not complete.
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }).replaceAll('\0', '');

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** The delivery of one event to one endpoint, in tables, events and lists. */
export interface PublicDelivery {
  /** Sent as `webhook-id` with every attempt. */
  readonly id: string;
  readonly endpoint_id: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly is_test: boolean;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  /** Why it ended, if no attempt explains it. */
  readonly error: string | null;
  readonly created_at: string;
  readonly settled_at: string | null;
}

export interface DeliveryRow extends PublicDelivery {
  /** HTTP status of the last attempt; null without a response, undefined in an event. */
  readonly response_status?: number | null;
}

/** A delivery after an attempt that has not been recorded. */
export type AttemptedDelivery = Omit<PublicDelivery, 'next_attempt_at' | 'settled_at'>;

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
  'response_status',
] as const satisfies readonly (keyof DeliveryRow)[];

/** One attempt at a delivery. */
export interface PublicAttempt {
  /** 1, 2, … */
  readonly number: number;
  readonly at: string;
  /** HTTP status; null without a response. */
  readonly status: number | null;
  readonly duration_ms: number;
  /** The first kilobyte of the response body. */
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

/** Bytes of a response that are stored. */
export const RESPONSE_BYTES = 1_024;

/** Decodes the beginning of a response body as storable text; an incomplete last character is dropped. */
export const storableText = (bytes: Buffer): string =>
  // `stream: true` makes the decoder hold an incomplete last character back.
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }).replaceAll('\0', '');

import type { IntegrationRow } from './integration.ts';

declare module '../../core/events.ts' {
  interface EventPayloads {
    /** A shop reported an order, for the first time in this status. */
    'order.received': OrderPayload;
  }
}

/** An order in events, without personal data. */
export interface PublicOrder {
  readonly id: string;
  readonly number: string | null;
  readonly status: string | null;
  readonly total: string | null;
  readonly currency: string | null;
}

export interface OrderPayload {
  readonly order: PublicOrder;
  readonly integration: Pick<IntegrationRow, 'id' | 'name' | 'kind'>;
  readonly topic: string;
  readonly contact_id: number | null;
}

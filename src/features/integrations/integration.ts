import { randomBytes } from 'node:crypto';
import type { MappingRow } from './mapping.ts';

/** Who reports orders to us. */
export const KINDS = ['woocommerce', 'shopify', 'generic'] as const;
export type Kind = (typeof KINDS)[number];

export interface IntegrationRow {
  readonly id: number;
  readonly kind: Kind;
  readonly name: string;
  readonly key: string;
  readonly is_enabled: boolean;
  readonly default_country: string | null;
  readonly topic_path: string;
  readonly has_secret: boolean;
  readonly previous_secret_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** In the order in which they were made. */
  readonly mappings: readonly MappingRow[];
}

/** Where a shop posts to. */
export const pathOf = ({ key }: Pick<IntegrationRow, 'key'>): string => `/integrations/${key}`;

/** 192 random bits: whoever has the address may knock, whoever has none finds none. */
export const newKey = (): string => randomBytes(24).toString('base64url');

export const isKey = (text: string): boolean => /^[\w-]{32}$/.test(text);

/** A secret of the form that Standard Webhooks gives them, which is as good for the others: no character that a form would change. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Of one tenant. */
export const MAX_INTEGRATIONS = 50;

/** What happens to an order, in each shop's words, where a mapping does not say; empty: anything. */
export const DEFAULT_TOPICS: Readonly<Record<Kind, readonly string[]>> = {
  woocommerce: ['order.created', 'order.updated'],
  shopify: ['orders/create', 'orders/updated'],
  generic: [],
};

export const DEFAULT_TOPIC_PATH = 'event';

/** Whether a topic tells of an order that is there. A generic one is an order where a mapping takes it for one. */
export function isOrderTopic(kind: Kind, topic: string, isMapped: boolean): boolean {
  switch (kind) {
    case 'woocommerce':
      return topic.startsWith('order.') && topic !== 'order.deleted';
    case 'shopify':
      return topic.startsWith('orders/') && topic !== 'orders/delete';
    case 'generic':
      return isMapped;
  }
}

/** An order as the event carries it: nothing of the person but the contact's id. */
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

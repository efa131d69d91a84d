import { randomBytes } from 'node:crypto';
import type { MappingRow } from './mappings/mapping.ts';
import type { Kind } from './mappings/paths.ts';

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
  /** In order of creation. */
  readonly mappings: readonly MappingRow[];
}

/** The path that a shop posts to. */
export const pathOf = ({ key }: Pick<IntegrationRow, 'key'>): string => `/integrations/${key}`;

/** 192 random bits, so that paths cannot be guessed. */
export const newKey = (): string => randomBytes(24).toString('base64url');

export const isKey = (text: string): boolean => /^[\w-]{32}$/.test(text);

/** A secret in the form of Standard Webhooks, used for all kinds: none of its characters needs escaping in forms. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Per tenant. */
export const MAX_INTEGRATIONS = 50;

/** Default topics of a mapping, by kind; empty: all topics. */
export const DEFAULT_TOPICS: Readonly<Record<Kind, readonly string[]>> = {
  woocommerce: ['order.created', 'order.updated'],
  shopify: ['orders/create', 'orders/updated'],
  generic: [],
};

export const DEFAULT_TOPIC_PATH = 'event';

/** Whether a topic reports an existing order. For generic payloads a mapping decides. */
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

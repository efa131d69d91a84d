import type { LabelRow } from '../labels/label.ts';
import type { Kind } from './integration.ts';

export const PATH_NAMES = [
  'phone',
  'firstName',
  'lastName',
  'email',
  'country',
  'orderId',
  'orderNumber',
  'status',
  'total',
  'currency',
] as const;
export type PathName = (typeof PATH_NAMES)[number];

/** Where each thing stands: the first path at which there is something counts. */
export type Paths = Readonly<Record<PathName, readonly string[]>>;

/** The REST API's order of WooCommerce (v3), Shopify's order resource, and plain names for everything else. */
export const DEFAULT_PATHS: Readonly<Record<Kind, Paths>> = {
  woocommerce: {
    phone: ['billing.phone', 'shipping.phone'],
    firstName: ['billing.first_name', 'shipping.first_name'],
    lastName: ['billing.last_name', 'shipping.last_name'],
    email: ['billing.email'],
    country: ['billing.country', 'shipping.country'],
    orderId: ['id'],
    orderNumber: ['number'],
    status: ['status'],
    total: ['total'],
    currency: ['currency'],
  },
  shopify: {
    phone: ['phone', 'shipping_address.phone', 'billing_address.phone', 'customer.phone'],
    firstName: ['customer.first_name', 'shipping_address.first_name', 'billing_address.first_name'],
    lastName: ['customer.last_name', 'shipping_address.last_name', 'billing_address.last_name'],
    email: ['email', 'contact_email', 'customer.email'],
    country: ['shipping_address.country_code', 'billing_address.country_code', 'customer.default_address.country_code'],
    orderId: ['id'],
    orderNumber: ['name', 'order_number'],
    status: ['financial_status'],
    total: ['total_price'],
    currency: ['currency'],
  },
  generic: {
    phone: ['phone', 'customer.phone'],
    firstName: ['first_name', 'customer.first_name'],
    lastName: ['last_name', 'customer.last_name'],
    email: ['email', 'customer.email'],
    country: ['country', 'customer.country'],
    orderId: ['order_id', 'id'],
    orderNumber: ['order_number', 'number'],
    status: ['status'],
    total: ['total'],
    currency: ['currency'],
  },
};

type Maybe<T> = T | null | undefined;

/** Fills a variable: from a path, with something to say where there is nothing, or always the same text. */
export interface Value {
  readonly path?: Maybe<string>;
  readonly fallback?: Maybe<string>;
  readonly text?: Maybe<string>;
}

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
  readonly name?: Maybe<string>;
  readonly address?: Maybe<string>;
}

export interface MappedHeader {
  readonly text?: Maybe<Value>;
  /** Addresses of files. */
  readonly image?: Maybe<Value>;
  readonly video?: Maybe<Value>;
  readonly document?: Maybe<Value>;
  readonly filename?: Maybe<Value>;
  readonly location?: Maybe<Place>;
}

export interface MappedTemplate {
  readonly name: string;
  readonly language: string;
  readonly channelId?: Maybe<number>;
  readonly header?: Maybe<MappedHeader>;
  readonly body?: Maybe<readonly Value[]>;
  readonly bodyByName?: Maybe<readonly { readonly name: string; readonly value: Value }[]>;
  readonly buttons?: Maybe<readonly { readonly index: number; readonly value: Value }[]>;
}

export interface MappingRow {
  readonly id: number;
  readonly integration_id: number;
  readonly name: string;
  readonly is_enabled: boolean;
  readonly topics: readonly string[];
  readonly statuses: readonly string[];
  /** Those that differ from the defaults of the kind. */
  readonly paths: Partial<Paths>;
  readonly template: MappedTemplate | null;
  readonly groups: readonly LabelRow[];
  readonly created_at: string;
  readonly updated_at: string;
}

export const pathsOf = (kind: Kind, { paths }: Pick<MappingRow, 'paths'>): Paths => ({
  ...DEFAULT_PATHS[kind],
  ...paths,
});

/** Why a mapping has nothing to do with a payload; undefined: it has. */
export type Mismatch = 'SWITCHED_OFF' | 'OTHER_TOPIC' | 'OTHER_STATUS';

export function mismatchOf(mapping: MappingRow, topic: string, status: string | undefined): Mismatch | undefined {
  if (!mapping.is_enabled) return 'SWITCHED_OFF';
  if (mapping.topics.length > 0 && !mapping.topics.includes(topic)) return 'OTHER_TOPIC';
  const word = (status ?? '').toLowerCase();
  if (mapping.statuses.length > 0 && !mapping.statuses.includes(word)) return 'OTHER_STATUS';
  return undefined;
}

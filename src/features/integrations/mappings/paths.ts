/** Kinds of shop systems. */
const KINDS = ['woocommerce', 'shopify', 'generic'] as const;
export type Kind = (typeof KINDS)[number];

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

/** Paths of each value; the first one with a value is used. */
export type Paths = Readonly<Record<PathName, readonly string[]>>;

/** WooCommerce: order of the REST API v3. Shopify: order resource. Generic: plain names. */
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

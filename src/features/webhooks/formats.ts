import { type EventResource, resourceOf } from '../../events.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { WebhookFormat } from './endpoint.ts';

/** An event as it is delivered: all that a body is made of. */
export interface DeliveredEvent {
  /** UUIDv7 */
  readonly id: string;
  readonly type: string;
  /** ISO 8601 */
  readonly occurredAt: string;
  readonly payload: JsonObject;
  readonly tenant: { readonly id: number; readonly name: string; readonly slug: string };
  /** Whether it concerns a sandbox channel. */
  readonly isSandbox: boolean;
}

/** What the kinds of resources are called by systems that were written for version 1. */
const MODELS = {
  bot: 'Bot',
  contact: 'Contact',
  group: 'Group',
  source: 'Source',
  status: 'Status',
  message: 'WhatsAppMessage',
  channel: 'Channel',
  template: 'Template',
  otp: 'OneTimePassword',
  order: 'Order',
  webhook: 'Webhook',
} as const satisfies Record<EventResource, string>;

/** Events whose payload is about something else than the resource that they are named after. */
const ABOUT: Readonly<Record<string, string>> = { 'webhook.delivery_attempted': 'delivery' };

/** These words stand alone where a model was made, changed or removed; everything else keeps its whole name. */
const PLAIN_ACTIONS: ReadonlySet<string> = new Set(['created', 'updated', 'deleted']);

interface Parts {
  readonly resource: EventResource;
  /** The resource with what the event says besides. */
  readonly attributes: JsonObject;
  /** Old values of what changed. */
  readonly previous: JsonObject | undefined;
}

function partsOf({ type, payload }: DeliveredEvent): Parts {
  const resource = resourceOf(type);
  const { [ABOUT[type] ?? resource]: subject, previous, ...besides } = payload;
  return {
    resource,
    attributes: { ...(subject as JsonObject | undefined), ...besides },
    previous: previous as JsonObject | undefined,
  };
}

/** Standard Webhooks: the payload as the event log has it. */
const standard = ({ type, occurredAt, payload }: DeliveredEvent) => ({ type, timestamp: occurredAt, data: payload });

/** For n8n and its like: one shape for whatever happened to whatever resource. */
function n8n(event: DeliveredEvent) {
  const { id, type, occurredAt, tenant, isSandbox } = event;
  const { resource, attributes, previous = {} } = partsOf(event);
  const modified = Object.keys(previous);
  return {
    event: {
      // The random end of the event's own id, so that it is the same at every attempt.
      id: `evt_${Math.floor(Date.parse(occurredAt) / 1_000)}_${id.replaceAll('-', '').slice(-16)}`,
      type,
      timestamp: occurredAt,
      version: '1.0',
    },
    tenant: { id: tenant.id, name: tenant.name, domain: tenant.slug },
    data: { resource: { type: resource, id: attributes['id'] ?? null, attributes }, relationships: {} },
    changes: {
      previous,
      current: Object.fromEntries(modified.map(name => [name, attributes[name] ?? null])),
      modified_fields: modified,
    },
    metadata: { source: 'parley', environment: isSandbox ? 'sandbox' : 'production', request_id: id },
  };
}

/** For receivers that were written for version 1. */
function legacy(event: DeliveredEvent) {
  const { resource, attributes, previous } = partsOf(event);
  const action = event.type.slice(resource.length + 1);
  return {
    event: PLAIN_ACTIONS.has(action) ? action : event.type,
    model: MODELS[resource],
    data: attributes,
    original: previous ?? null,
    timestamp: event.occurredAt,
  };
}

const RENDER = { standard, n8n, legacy } as const satisfies Record<WebhookFormat, (event: DeliveredEvent) => object>;

/** The body of a delivery: the same bytes for the same event, however often it is sent. */
export const renderBody = (format: WebhookFormat, event: DeliveredEvent): string =>
  JSON.stringify(RENDER[format](event));

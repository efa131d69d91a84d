import { type EventResource, resourceOf } from '../../../core/events.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { WebhookFormat } from '../endpoints/endpoint.ts';

/** An event with everything that a request body contains. */
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

/** Names of resources in version 1. */
const MODELS = {
  bot: 'Bot',
  campaign: 'Campaign',
  contact: 'Contact',
  consent: 'Consent',
  group: 'Group',
  source: 'Source',
  status: 'Status',
  message: 'WhatsAppMessage',
  channel: 'Channel',
  conversation: 'Conversation',
  group_chat: 'GroupChat',
  template: 'Template',
  otp: 'OneTimePassword',
  order: 'Order',
  webhook: 'Webhook',
  export: 'Export',
} as const satisfies Record<EventResource, string>;

/** The payload's subject, for events that are named after another resource. */
const SUBJECTS: Readonly<Record<string, string>> = { 'webhook.delivery_attempted': 'delivery' };

/** Actions that version 1 names without the resource; all other events keep their full type. */
const PLAIN_ACTIONS: ReadonlySet<string> = new Set(['created', 'updated', 'deleted']);

interface Parts {
  readonly resource: EventResource;
  /** The resource and the other fields of the payload. */
  readonly attributes: JsonObject;
  /** Old values of changed fields. */
  readonly previous: JsonObject | undefined;
}

function partsOf({ type, payload }: DeliveredEvent): Parts {
  const resource = resourceOf(type);
  const { [SUBJECTS[type] ?? resource]: subject, previous, ...besides } = payload;
  return {
    resource,
    attributes: { ...(subject as JsonObject | undefined), ...besides },
    previous: previous as JsonObject | undefined,
  };
}

/** Standard Webhooks: the payload as the event log has it. */
const standard = ({ type, occurredAt, payload }: DeliveredEvent) => ({ type, timestamp: occurredAt, data: payload });

/** For n8n and similar tools: the same shape for all events. */
function n8n(event: DeliveredEvent) {
  const { id, type, occurredAt, tenant, isSandbox } = event;
  const { resource, attributes, previous = {} } = partsOf(event);
  const modified = Object.keys(previous);
  return {
    event: {
      // Derived from the event's id, so that it is the same for every attempt.
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

/** For receivers of version 1. */
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

/** The body of a delivery: the same bytes at every attempt. */
export const renderBody = (format: WebhookFormat, event: DeliveredEvent): string =>
  JSON.stringify(RENDER[format](event));

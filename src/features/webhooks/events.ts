import type { DisabledReason, EventWebhook } from './endpoints/endpoint.ts';
import type { PublicAttempt, PublicDelivery } from './log/delivery.ts';

declare module '../../core/events.ts' {
  interface EventPayloads {
    /** An attempt to deliver an event. Never delivered to endpoints: each delivery would cause another one. */
    'webhook.delivery_attempted': { readonly delivery: PublicDelivery; readonly attempt: PublicAttempt };
    /** The gateway disabled an endpoint. */
    'webhook.disabled': { readonly webhook: EventWebhook; readonly reason: Exclude<DisabledReason, 'by_hand'> };
    /** A test event, delivered to one endpoint only. */
    'webhook.test': { readonly webhook: EventWebhook };
  }
}

import type { Changed } from '../../core/events.ts';
import type { PublicChannel } from './channel.ts';
import type { PublicHealth } from './health.ts';

declare module '../../core/events.ts' {
  interface EventPayloads {
    'channel.updated': { readonly channel: PublicChannel };
    /** The network reported the health of the number or the account; `previous` holds the old values of changed fields. */
    'channel.health_changed': {
      readonly channel: PublicChannel;
      readonly health: PublicHealth;
    } & Changed<PublicHealth>;
  }
}

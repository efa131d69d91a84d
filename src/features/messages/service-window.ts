import { builder } from '../../builder.ts';
import type { ServiceWindow as Shape } from './window.ts';

/** Contacts and messages both show it, so it stands apart from either. */
export const ServiceWindow = builder.objectRef<Shape>('ServiceWindow').implement({
  description: 'The 24 hours after a message of the person, in which free-form messages may be sent.',
  fields: t => ({
    open: t.exposeBoolean('open', { description: 'Whether it is open now.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it closes or closed; null when the person never wrote.',
    }),
  }),
});

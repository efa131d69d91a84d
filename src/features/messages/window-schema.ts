import { builder } from '../../schema/builder.ts';
import type { ServiceWindow as Shape } from './window.ts';

/** Type of fields of contacts and messages. */
export const ServiceWindow = builder.objectRef<Shape>('ServiceWindow').implement({
  description: "The 24 hours after a contact's last message in which free-form messages can be sent.",
  fields: t => ({
    isOpen: t.exposeBoolean('open', { description: 'Whether free-form messages can be sent now.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the window closes or closed; null if the contact never wrote.',
    }),
  }),
});

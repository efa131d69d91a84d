import { builder } from '../../builder.ts';
import type { PublicOrder } from './integration.ts';
import type { Reason } from './reason.ts';

export const ReceivedOrder = builder.objectRef<PublicOrder>('ReceivedOrder').implement({
  description: 'An order of a shop, as far as a payload tells of it.',
  fields: t => ({
    orderId: t.exposeString('id', { description: "The shop's own id of it." }),
    number: t.exposeString('number', { nullable: true, description: 'The number that people know it by.' }),
    status: t.exposeString('status', { nullable: true, description: "The shop's word, such as `processing`." }),
    total: t.exposeString('total', { nullable: true, description: 'What it comes to, as the shop writes it.' }),
    currency: t.exposeString('currency', { nullable: true, description: 'Such as `EUR`.' }),
  }),
});

export const ReasonType = builder.objectRef<Reason>('IntegrationReason').implement({
  description: 'Why nothing, or not all, is done with a payload.',
  fields: t => ({
    code: t.exposeString('code', {
      description:
        'For programs: PAYLOAD_UNREADABLE, ORDER_ID_MISSING, PHONE_MISSING, PHONE_INVALID, PARAMETER_MISSING, OUTCOME_UNKNOWN, TENANT_INACTIVE, FAULT, or the code that a mutation would answer, such as CONTACT_OPTED_OUT, FEATURE_LIMIT_EXCEEDED and VALIDATION_ERROR.',
    }),
    message: t.exposeString('message', { description: 'For people; it names the path.' }),
    field: t.exposeString('field', {
      nullable: true,
      description: 'What of the send it is about, such as `body.1` or `phone`.',
    }),
    path: t.exposeString('path', { nullable: true, description: 'The path of the payload that fills it.' }),
  }),
});

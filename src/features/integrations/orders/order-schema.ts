import { builder } from '../../../schema/builder.ts';
import { Money, moneyOf } from '../../../schema/money.ts';
import type { PublicOrder } from '../events.ts';
import type { Reason } from './reason.ts';

export const ShopOrder = builder.objectRef<PublicOrder>('ShopOrder').implement({
  description: 'An order, as far as the payload describes it.',
  fields: t => ({
    orderId: t.exposeString('id', { description: "The shop's id of the order." }),
    number: t.exposeString('number', {
      nullable: true,
      description: 'Order number that the customer sees; null if not found.',
    }),
    status: t.exposeString('status', {
      nullable: true,
      description: "Status in the shop's terms, for example `processing`; null if not found.",
    }),
    total: t.field({
      type: Money,
      nullable: true,
      description: 'Total amount; null if amount or currency were not found, or are not a decimal number and a code.',
      resolve: ({ total, currency }) => moneyOf(total, currency) ?? null,
    }),
  }),
});

export const ReasonType = builder.objectRef<Reason>('IntegrationReason').implement({
  description: 'An error that prevented all or part of the processing of a payload.',
  fields: t => ({
    code: t.exposeString('code', {
      description:
        'Machine-readable code: PAYLOAD_UNREADABLE, ORDER_ID_MISSING, PHONE_MISSING, PHONE_INVALID, PARAMETER_MISSING, OUTCOME_UNKNOWN, TENANT_INACTIVE, FAULT, or an error code of a mutation such as CONTACT_OPTED_OUT, FEATURE_LIMIT_EXCEEDED and VALIDATION_ERROR.',
    }),
    message: t.exposeString('message', { description: 'Human-readable message that names the path.' }),
    field: t.exposeString('field', {
      nullable: true,
      description: 'Field of the send, for example `body.1` or `phone`; null if the error is not about one field.',
    }),
    path: t.exposeString('path', {
      nullable: true,
      description: 'Path in the payload that fills the field; null if there is none.',
    }),
  }),
});

import { builder } from '../../../schema/builder.ts';
import { Money, moneyOf } from '../../../schema/money.ts';
import type { OrderItem } from './message-content.ts';

export const OrderItemType = builder.objectRef<OrderItem>('OrderItem').implement({
  description: 'A product of an order.',
  fields: t => ({
    productId: t.exposeString('productId', { description: 'Id of the product in the catalog.' }),
    quantity: t.exposeInt('quantity', { description: 'Number of pieces.' }),
    price: t.field({
      type: Money,
      nullable: true,
      description: 'Price of a piece; null if the network sent none that can be read.',
      resolve: ({ price, currency }) => moneyOf(price, currency) ?? null,
    }),
  }),
});

import { builder } from '../../../../schema/builder.ts';
import { Message } from '../../schema.ts';
import { type Location, locationOf, type SharedContact, sharedContactsOf } from './parts.ts';

const MessageLocation = builder.objectRef<Location>('MessageLocation').implement({
  description: 'A location that a person shared.',
  fields: t => ({
    latitude: t.exposeFloat('latitude', { description: 'Latitude in degrees; positive values are north.' }),
    longitude: t.exposeFloat('longitude', { description: 'Longitude in degrees; positive values are east.' }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the place; null if not given.' }),
    address: t.exposeString('address', { nullable: true, description: 'Street address; null if not given.' }),
  }),
});

const SharedContactType = builder.objectRef<SharedContact>('SharedContact').implement({
  description: 'A contact card that a person shared.',
  fields: t => ({
    name: t.exposeString('name', { description: 'Name on the card; empty if it has none.' }),
    phones: t.exposeStringList('phones', { description: 'Phone numbers as written on the card.' }),
  }),
});

builder.objectFields(Message, t => ({
  location: t.field({
    type: MessageLocation,
    nullable: true,
    description: 'Shared location; null for other messages.',
    resolve: message => locationOf(message),
  }),
  sharedContacts: t.field({
    type: [SharedContactType],
    description: 'Shared contact cards; empty for other messages.',
    resolve: message => sharedContactsOf(message),
  }),
}));

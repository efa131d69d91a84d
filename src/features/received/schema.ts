import { builder } from '../../builder.ts';
import { Message } from '../messages/schema.ts';
import { type Location, locationOf, type SharedContact, sharedContactsOf } from './parts.ts';

const MessageLocation = builder.objectRef<Location>('MessageLocation').implement({
  description: 'A place that a person shared.',
  fields: t => ({
    latitude: t.exposeFloat('latitude', { description: 'Degrees, north of the equator positive.' }),
    longitude: t.exposeFloat('longitude', { description: 'Degrees, east of Greenwich positive.' }),
    name: t.exposeString('name', { nullable: true, description: 'Its name.' }),
    address: t.exposeString('address', { nullable: true, description: 'Its address.' }),
  }),
});

const SharedContactType = builder.objectRef<SharedContact>('SharedContact').implement({
  description: "A card of a person's address book.",
  fields: t => ({
    name: t.exposeString('name', { description: 'Whose it is; empty where the card does not say.' }),
    phones: t.exposeStringList('phones', { description: 'Numbers, as the card writes them.' }),
  }),
});

builder.objectFields(Message, t => ({
  location: t.field({
    type: MessageLocation,
    nullable: true,
    description: 'The place, where this message is one.',
    resolve: message => locationOf(message),
  }),
  sharedContacts: t.field({
    type: [SharedContactType],
    description: 'The cards, where this message holds any.',
    resolve: message => sharedContactsOf(message),
  }),
}));

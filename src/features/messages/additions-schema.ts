import type { Referral as ReferralShape } from '../../network/updates.ts';
import { builder } from '../../schema/builder.ts';
import { contactLoader } from '../contacts/loaders.ts';
import { Contact } from '../contacts/schema.ts';
import type { Edit, Reaction } from './additions.sql.ts';
import { additionsLoader, editsLoader, networkKeyOf, reactionsLoader } from './loaders.ts';
import { Direction, Message } from './schema.ts';

/** Fields of a message from its later changes and its additions. */

const few = { extensions: { listSize: 2 } };

const ReactionType = builder.objectRef<Reaction>('Reaction').implement({
  description: 'An emoji with which somebody reacted to a message.',
  fields: t => ({
    emoji: t.exposeString('emoji', { description: 'The emoji that was chosen.' }),
    direction: t.expose('direction', {
      type: Direction,
      description: 'INBOUND: the reaction of a person; OUTBOUND: of the business.',
    }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The person who reacted; null for the business, and if the contact was deleted.',
      authScopes: { scope: 'contacts:read' },
      resolve: ({ direction, contact_id }, _args, context) =>
        direction === 'outbound' ? null : contactLoader(context).load(contact_id),
    }),
    createdAt: t.expose('occurred_at', { type: 'DateTime', description: 'Time of the reaction.' }),
  }),
});

const MessageEdit = builder.objectRef<Edit>('MessageEdit').implement({
  description: 'A change that the author of a message made to it.',
  fields: t => ({
    text: t.exposeString('text', {
      nullable: true,
      description: 'The text before this change; null if there was none. `Message.text` is the present one.',
    }),
    createdAt: t.expose('occurred_at', { type: 'DateTime', description: 'Time of the change.' }),
  }),
});

const Forwarding = builder.enumType('Forwarding', {
  description: 'Whether a person forwarded the message from another chat.',
  values: {
    NONE: { value: 'none', description: 'The person wrote it.' },
    FORWARDED: { value: 'forwarded', description: 'It was forwarded.' },
    FREQUENTLY_FORWARDED: { value: 'frequently_forwarded', description: 'It was forwarded many times.' },
  } as const,
});

const Referral = builder.objectRef<ReferralShape>('Referral').implement({
  description: 'The ad or post from which a person wrote.',
  fields: t => ({
    sourceType: t.exposeString('source_type', {
      description: 'Whether it is an ad or a post, in the word of the network.',
    }),
    sourceId: t.exposeString('source_id', { nullable: true, description: 'Id of the ad or post on the network.' }),
    sourceUrl: t.exposeString('source_url', { nullable: true, description: 'URL of the ad or post.' }),
    headline: t.exposeString('headline', { nullable: true, description: 'Headline of the ad or post.' }),
    body: t.exposeString('body', { nullable: true, description: 'Text of the ad or post.' }),
    clickId: t.exposeString('click_id', {
      nullable: true,
      description: 'Id of the click, with which conversions are reported to the ad platform.',
    }),
  }),
});

builder.objectFields(Message, t => ({
  reactions: t.field({
    ...few,
    type: [ReactionType],
    description: 'The reactions to the message, oldest first: of each person the last, without those taken back.',
    resolve: async (message, _args, context) => {
      const key = networkKeyOf(message);
      return key === null ? [] : [...(await reactionsLoader(context).load(key))];
    },
  }),
  edits: t.field({
    ...few,
    type: [MessageEdit],
    description: 'The changes that its author made to the message, oldest first.',
    resolve: async (message, _args, context) => {
      const key = networkKeyOf(message);
      return key === null ? [] : [...(await editsLoader(context).load(key))];
    },
  }),
  editedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'Time of the last change by its author; null if it was not changed.',
    resolve: async ({ id }, _args, context) => (await additionsLoader(context).load(id))?.edited_at,
  }),
  revokedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'Time at which its author revoked the message; null if it was not. Its content is kept.',
    resolve: async ({ id }, _args, context) => (await additionsLoader(context).load(id))?.revoked_at,
  }),
  forwarding: t.field({
    type: Forwarding,
    description: 'Whether a person forwarded the message.',
    resolve: async ({ id }, _args, context) =>
      ((await additionsLoader(context).load(id))?.forwarding ?? 'none') as typeof Forwarding.$inferType,
  }),
  referral: t.field({
    type: Referral,
    nullable: true,
    description: 'The ad or post from which the person wrote; null if it was none.',
    resolve: async ({ id }, _args, context) => (await additionsLoader(context).load(id))?.referral,
  }),
}));

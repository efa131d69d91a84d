import { parseId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder } from '../../../schema/builder.ts';
import { connectionOf, enumFilter, filterOf, IntFilter, pageArgs } from '../../../schema/lists.ts';
import { Money } from '../../../schema/money.ts';
import { ConsentEntry } from '../../contacts/consent/schema.ts';
import { consentEntryLoader, contactLoader } from '../../contacts/loaders.ts';
import { Contact } from '../../contacts/schema.ts';
import { messageLoader } from '../../messages/loaders.ts';
import { Message } from '../../messages/schema.ts';
import { campaignLoader } from '../loaders.ts';
import { Campaign } from '../schema.ts';
import { followCampaign } from './follow.ts';
import { type RecipientRow, recipientPage } from './list.ts';
import { costLoader, progressLoader, skipLoader } from './loaders.ts';
import { optOutOf } from './opt-out.ts';
import { type Failure, type Progress, titleOf } from './progress.ts';
import {
  RECIPIENT_STATES,
  type RecipientState,
  reasonOf,
  SKIP_REASONS,
  type SkipReason,
  stateOf,
} from './recipient.ts';
import type { SkipCount } from './store.ts';

const FailureType = builder.objectRef<Failure>('CampaignFailure').implement({
  description: 'Failures of one kind.',
  fields: t => ({
    code: t.exposeInt('code', { description: "The network's error code; 0 for a refusal of this gateway." }),
    title: t.string({
      nullable: true,
      description: "The network's words for the code; null if they are not known.",
      resolve: ({ code }) => titleOf(code),
    }),
    count: t.exposeInt('count', { description: 'Number of messages.' }),
  }),
});

const REASON_WORDS: Readonly<Record<SkipReason, string>> = {
  opted_out: 'Opted out of such messages.',
  no_number: 'Has no phone number, and no user id in the portfolio of the channel.',
  duplicate: 'Is the same person as another recipient.',
  blocked: 'Is blocked by the business on the network.',
  frequency_cap: 'Had enough messages of the category.',
  outside_hours:
    'Has no time zone, and a number of a country whose zones have no hour in common with the sending hours.',
  gone: 'Was deleted.',
  invalid: 'The filled template is not valid, for example too long.',
};
const SkipReasonEnum = builder.enumType('CampaignSkipReason', {
  description: 'Why a contact of the audience does not get a campaign.',
  values: Object.fromEntries(
    SKIP_REASONS.map(value => [value.toUpperCase(), { value, description: REASON_WORDS[value] }]),
  ) as Record<string, { value: SkipReason; description: string }>,
});

export const SkipCountType = builder.objectRef<SkipCount>('CampaignSkipCount').implement({
  description: 'People who do not get a campaign for one reason.',
  fields: t => ({
    reason: t.expose('reason', { type: SkipReasonEnum, description: 'Why they do not get it.' }),
    count: t.exposeInt('count', { description: 'Number of people; in a preview, duplicates are rows of the list.' }),
  }),
});

const ProgressType = builder.objectRef<Progress>('CampaignProgress').implement({
  description:
    'How far a campaign is. The figures are counted as it happens; a message that was read is also among those sent and delivered.',
  fields: t => ({
    total: t.exposeInt('total', { description: 'Number of recipients.' }),
    pending: t.exposeInt('pending', { description: 'Recipients that are not examined yet, or wait.' }),
    skipped: t.exposeInt('skipped', { description: 'Recipients who do not get the message.' }),
    sent: t.exposeInt('sent', { description: 'Messages that the network accepted.' }),
    delivered: t.exposeInt('delivered', { description: 'Messages that reached a device.' }),
    read: t.exposeInt('read', { description: 'Messages that were read, as far as recipients let it be known.' }),
    replied: t.exposeInt('replied', {
      description: 'Recipients who wrote or tapped a button within 72 hours after the message.',
    }),
    failed: t.exposeInt('failed', { description: 'Messages that failed; see `failures`.' }),
    optedOut: t.exposeInt('opted_out', {
      description: 'Recipients who opted out within 72 hours after the message.',
    }),
    failures: t.field({
      type: [FailureType],
      description: 'Failed messages by error, most frequent first.',
      extensions: { listSize: 5 },
      resolve: ({ failures }) => [...failures],
    }),
    skips: t.field({
      type: [SkipCountType],
      description: 'Skipped recipients by reason, most frequent first.',
      extensions: { listSize: 8 },
      resolve: async ({ id }, _args, context) => [...(await skipLoader(context).load(id))],
    }),
    cost: t.field({
      type: [Money],
      description: 'Cost of the delivered messages by currency; empty where the deployment has no prices.',
      extensions: { listSize: 1 },
      resolve: async ({ id, cost }, _args, context) => [
        ...(cost ?? (await costLoader(context).load({ id, prices: context.prices }))),
      ],
    }),
  }),
});

const STATE_WORDS: Readonly<Record<RecipientState, string>> = {
  pending: 'Not examined yet.',
  waiting: 'Waits for a time of day, or for the next attempt.',
  skipped: 'Does not get the message; see `skipReason`.',
  queued: 'The message waits to be sent.',
  sent: 'The network accepted the message.',
  delivered: 'The message reached a device.',
  read: 'The message was read.',
  failed: 'The message failed.',
  cancelled: 'The message was cancelled before it was sent.',
};
const StateEnum = builder.enumType('CampaignRecipientState', {
  description: 'What became of a recipient of a campaign.',
  values: Object.fromEntries(
    RECIPIENT_STATES.map(value => [value.toUpperCase(), { value, description: STATE_WORDS[value] }]),
  ) as Record<string, { value: RecipientState; description: string }>,
});

const Recipient = builder.objectRef<RecipientRow>('CampaignRecipient').implement({
  description: 'A recipient of a campaign.',
  fields: t => ({
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact; null if it was deleted or merged into another one.',
      authScopes: { scope: 'contacts:read' },
      resolve: async ({ contact_id: id }, _args, context) => (await contactLoader(context).load(id)) ?? null,
    }),
    state: t.field({
      type: StateEnum,
      description: 'What became of the recipient.',
      resolve: ({ state }) => stateOf(state),
    }),
    skipReason: t.field({
      type: SkipReasonEnum,
      nullable: true,
      description: 'Why it was skipped; null if it was not.',
      resolve: ({ reason }) => reasonOf(reason),
    }),
    consentEntry: t.field({
      type: ConsentEntry,
      nullable: true,
      description:
        'The opt-out because of which it was skipped or failed: of all messages, otherwise of marketing or utility messages. Null for other reasons, and if it no longer holds.',
      authScopes: { scope: 'contacts:read' },
      resolve: async (recipient, _args, context) => {
        const id = await optOutOf(context, recipient);
        return id === null ? null : ((await consentEntryLoader(context).load(id)) ?? null);
      },
    }),
    message: t.field({
      type: Message,
      nullable: true,
      description: 'The message; null before it is accepted, and after it was deleted.',
      authScopes: { scope: 'messages:read' },
      resolve: async ({ message_id: id }, _args, context) =>
        id === null ? null : ((await messageLoader(context).load(id)) ?? null),
    }),
    errorCode: t.exposeInt('error_code', {
      nullable: true,
      description: "The network's error code of a failed message; null if it has not failed.",
    }),
    errorTitle: t.string({
      nullable: true,
      description: "The network's words for the error; null if it has not failed.",
      resolve: ({ error_code: code }) => (code === null ? null : titleOf(code)),
    }),
    dueAt: t.expose('due_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when it waits; null otherwise.',
    }),
    repliedAt: t.expose('replied_at', {
      type: 'DateTime',
      nullable: true,
      description: 'First answer within 72 hours after the message; null if there was none.',
    }),
    hasOptedOut: t.boolean({
      description: 'Whether the person opted out within 72 hours after the message.',
      resolve: ({ opted_out: optedOut }) => optedOut ?? false,
    }),
  }),
});

export const RecipientFilter = filterOf('CampaignRecipient', 'recipients', t => ({
  state: t.field({ type: enumFilter(StateEnum), description: 'What became of the recipient.' }),
  errorCode: t.field({
    type: IntFilter,
    description: 'Error code of the network of a failed message; 0: decided by the gateway.',
  }),
  skipReason: t.field({ type: enumFilter(SkipReasonEnum), description: 'Why the recipient was skipped.' }),
}));

builder.objectFields(Campaign, t => ({
  progress: t.field({
    type: ProgressType,
    description: 'How far it is, and what became of its messages.',
    resolve: ({ id, progress }, _args, context) => progress ?? progressLoader(context).load(id),
  }),
  recipients: t.field({
    type: connectionOf('CampaignRecipient', Recipient),
    nullable: true,
    description: 'Recipients of the campaign, which are written when it starts, in the order of their contacts.',
    args: {
      ...pageArgs({ search: false }),
      ...builder.args(f => ({ filter: f.field({ type: RecipientFilter, description: 'Only these recipients.' }) })),
    },
    resolve: (campaign, args, context) => recipientPage(context.db.read, tenantOf(context), campaign, args),
  }),
}));

builder.objectField(Message, 'campaign', t =>
  t.field({
    type: Campaign,
    nullable: true,
    description: 'The campaign that sent it; null for other messages.',
    authScopes: { scope: 'campaigns:read' },
    resolve: async ({ author }, _args, context) =>
      author?.kind === 'campaign' && author.id !== null
        ? ((await campaignLoader(context).load(author.id)) ?? null)
        : null,
  }),
);

builder.subscriptionField('campaign', t =>
  t.field({
    type: Campaign,
    description: 'Streams a campaign as it is, then after each change of it or of its progress, at most once a second.',
    authScopes: { scope: 'campaigns:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the campaign.' }) },
    subscribe: (_root, { id }, context) => followCampaign(context, parseId(tenantOf(context), 'Campaign', id)),
    resolve: campaign => campaign,
  }),
);

import { requireId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { Actor } from '../../schema/actor.ts';
import { builder } from '../../schema/builder.ts';
import { databaseId } from '../../schema/database-id.ts';
import { deleteMutation } from '../../schema/delete-mutation.ts';
import { inputJson } from '../../schema/input-json.ts';
import { listQueries } from '../../schema/list-queries.ts';
import { DateTimeFilter, enumFilter, IDFilter, StringFilter } from '../../schema/lists.ts';
import { entityPayload, mutation } from '../../schema/payload.ts';
import { channelLoader } from '../channels/loaders.ts';
import { Channel } from '../channels/schema.ts';
import { Group } from '../contacts/labels/schema.ts';
import { groupLoader } from '../contacts/loaders.ts';
import { MessageContent } from '../messages/content/union-schema.ts';
import { Author } from '../tenancy/audit/schema.ts';
import type { Audience } from './audience/audience.ts';
import type { CampaignRow, FrequencyCap, SendingHours } from './campaign.ts';
import { changeCampaign, createCampaign, removeCampaign } from './change.ts';
import {
  CampaignStatusEnum,
  CreateCampaignInput,
  campaignIdInput,
  StartCampaignInput,
  UpdateCampaignInput,
} from './inputs.ts';
import { campaignPage } from './list.ts';
import { recipientListLoader } from './lists/loaders.ts';
import { RecipientList } from './lists/schema.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign, startCampaign } from './run/act.ts';
import { getCampaigns } from './store.ts';

const AudienceType = builder.objectRef<Audience>('CampaignAudience').implement({
  description: 'Who gets a campaign; one of its fields is set.',
  fields: t => ({
    groups: t.field({
      type: [Group],
      description: 'Groups whose contacts get it.',
      authScopes: { scope: 'groups:read' },
      nullable: true,
      extensions: { listSize: 5 },
      resolve: async (audience, _args, context) =>
        (await groupLoader(context).loadMany('groupIds' in audience ? audience.groupIds : [])).flatMap(group =>
          group && !(group instanceof Error) ? [group] : [],
        ),
    }),
    list: t.field({
      type: RecipientList,
      nullable: true,
      description: 'Uploaded list whose people get it; null as well when it was deleted after the campaign.',
      resolve: async (audience, _args, context) =>
        'listId' in audience ? ((await recipientListLoader(context).load(audience.listId)) ?? null) : null,
    }),
    contactCount: t.int({
      nullable: true,
      description: 'Number of contacts that are named one by one.',
      resolve: audience => ('contactIds' in audience ? audience.contactIds.length : null),
    }),
    filter: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Filter of the contacts that get it, as `ContactFilter` writes it.',
      resolve: (audience, _args, _context, { schema }) =>
        'filter' in audience ? inputJson(schema, 'ContactFilter', audience.filter) : null,
    }),
  }),
});

const Hours = builder.objectRef<SendingHours>('SendingHours').implement({
  description: "Times of day between which messages are sent, in the recipient's time zone.",
  fields: t => ({
    start: t.exposeString('start', { description: 'First minute, such as `09:00`.' }),
    end: t.exposeString('end', { description: 'First minute after, such as `20:00`.' }),
  }),
});

const Cap = builder.objectRef<FrequencyCap>('FrequencyCap').implement({
  description: 'Limit of messages of one category to one person.',
  fields: t => ({
    messages: t.exposeInt('messages', { description: 'Number of messages.' }),
    days: t.exposeInt('days', { description: 'Number of days.' }),
  }),
});

export const Campaign = builder.objectRef<CampaignRow>('Campaign');

builder.node(Campaign, {
  name: 'Campaign',
  description: 'One template that is sent to many contacts.',
  interfaces: [Actor],
  id: { resolve: campaign => campaign.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: async (ids, context) => {
    if (!context.principal?.scopes.has('campaigns:read')) return ids.map(() => undefined);
    const rows = await getCampaigns(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: databaseId(t),
    displayName: t.exposeString('name', { description: 'Name of the campaign.' }),
    name: t.exposeString('name', { description: 'Internal name of the campaign. Contacts do not see it.' }),
    status: t.expose('status', {
      type: CampaignStatusEnum,
      description: 'State of the campaign.',
    }),
    statusCode: t.exposeString('status_code', {
      nullable: true,
      description:
        'Why it is paused or failed, as a word: MANUAL, TEMPLATE_UNAVAILABLE, FAILURES, … Null if it is neither.',
    }),
    statusReason: t.exposeString('status_reason', {
      nullable: true,
      description: 'Why it is paused or failed, for people.',
    }),
    channel: t.field({
      type: Channel,
      nullable: true,
      description: 'The channel that sends; null before the start: the default channel.',
      authScopes: { scope: 'channels:read' },
      resolve: async ({ channel_id: id }, _args, context) =>
        id === null ? null : ((await channelLoader(context).load(id)) ?? null),
    }),
    content: t.field({
      type: MessageContent,
      description: 'The template with its values.',
      resolve: ({ template: { name, language, ...values } }) => ({
        kind: 'TemplateContent' as const,
        templateName: name,
        language,
        values,
        rendered: null,
        sentFile: null,
      }),
    }),
    audience: t.expose('audience', { type: AudienceType, description: 'Who gets it.' }),
    messagesPerSecond: t.exposeInt('messages_per_second', {
      nullable: true,
      description: 'Messages queued per second; null: the rate of the channel.',
    }),
    sendingHours: t.field({
      type: Hours,
      nullable: true,
      description: 'When recipients may get the message; null: at any time.',
      resolve: campaign => campaign.sending_hours,
    }),
    frequencyCap: t.field({
      type: Cap,
      nullable: true,
      description: 'After how many messages a person is skipped; null: never.',
      resolve: campaign => campaign.frequency_cap,
    }),
    firstWave: t.exposeInt('first_wave', {
      nullable: true,
      description: 'Recipients who get the message first; null: 100, or 1 % if that is more.',
    }),
    firstWaveSeconds: t.exposeInt('first_wave_seconds', {
      description: 'Longest wait for the outcome of the first wave.',
    }),
    maxFailurePercent: t.exposeInt('max_failure_percent', {
      description: 'Share of failures above which the campaign pauses.',
    }),
    scheduledAt: t.expose('scheduled_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which it is to start; null if it started at once or not yet.',
    }),
    startedAt: t.expose('started_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which it started; null if it has not.',
    }),
    endedAt: t.expose('ended_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which it was completed, cancelled or failed; null if it is not over.',
    }),
    createdBy: t.field({ type: Author, description: 'Who created it.', resolve: ({ author }) => author }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

listQueries(Campaign, {
  list: 'campaigns',
  one: 'campaign',
  noun: 'campaign',
  plural: 'campaigns',
  description: 'Lists campaigns, newest first by default. `search` matches names.',
  scope: 'campaigns:read',
  filter: t => ({
    name: t.field({ type: StringFilter, description: 'Name of the campaign.' }),
    status: t.field({ type: enumFilter(CampaignStatusEnum), description: 'State of the campaign.' }),
    channelId: t.field({ type: IDFilter, description: 'Id of the channel.' }),
    scheduledAt: t.field({ type: DateTimeFilter, description: 'Time at which it is to start.' }),
    startedAt: t.field({ type: DateTimeFilter, description: 'Time at which it started.' }),
  }),
  order: {
    NAME: { value: 'name', description: 'Name of the campaign.' },
  },
  page: campaignPage,
  get: getCampaigns,
});

export const CampaignPayload = entityPayload('campaign', Campaign, 'The campaign after the mutation.');

mutation('createCampaign', {
  description: 'Creates a campaign as a draft. Nothing is sent before `startCampaign`.',
  scope: ['campaigns:write', 'contacts:read', 'messages:send'],
  input: CreateCampaignInput,
  payload: CampaignPayload,
  resolve: async (input, context) => ({ campaign: await createCampaign(context, input) }),
});
mutation('updateCampaign', {
  description: 'Changes a campaign that has not started.',
  scope: ['campaigns:write', 'messages:send'],
  input: UpdateCampaignInput,
  payload: CampaignPayload,
  resolve: async ({ id, ...input }, context) => ({
    campaign: await changeCampaign(context, requireId(tenantOf(context), 'Campaign', id), input),
  }),
});
deleteMutation('Campaign', {
  noun: 'campaign',
  description: 'Deletes a campaign that never started or has ended, with its figures. Its messages remain.',
  scope: 'campaigns:write',
  remove: removeCampaign,
});

mutation('startCampaign', {
  description:
    'Starts a campaign, now or at a time. The first wave gets the message first; the campaign pauses itself if too many messages fail.',
  scope: ['campaigns:write', 'messages:send'],
  input: StartCampaignInput,
  payload: CampaignPayload,
  resolve: async ({ id, ...input }, context) => ({
    campaign: await startCampaign(context, requireId(tenantOf(context), 'Campaign', id), input),
  }),
});

for (const [name, act, description] of [
  ['pauseCampaign', pauseCampaign, 'Pauses a running campaign. Within two seconds nothing more is sent.'],
  ['resumeCampaign', resumeCampaign, 'Resumes a paused campaign. Nobody gets its message twice.'],
  ['cancelCampaign', cancelCampaign, 'Cancels a campaign for good. Within two seconds nothing more is sent.'],
] as const) {
  mutation(name, {
    description,
    scope: ['campaigns:write', 'messages:send'],
    input: campaignIdInput(
      `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`,
      `The campaign to ${name.slice(0, -'Campaign'.length)}.`,
    ),
    payload: CampaignPayload,
    resolve: async ({ id, ...input }, context) => ({
      campaign: await act(context, requireId(tenantOf(context), 'Campaign', id), input),
    }),
  });
}

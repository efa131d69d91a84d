import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { isObject } from '../../platform/json.ts';
import { selectionOf } from '../openapi/schema.ts';
import {
  type AddFault,
  body,
  id,
  ids,
  object,
  requiredObject,
  requiredText,
  requiredWhole,
  text,
  texts,
  whole,
} from '../runtime/fields.ts';
import { listResponse, type Route, requireRow, route } from '../runtime/route.ts';
import { TEMPLATE_FIELDS } from '../wire/bots.ts';
import { CAMPAIGN_LIST, campaignRowBy, RECIPIENT_LIST, recipientRowBy } from '../wire/campaigns.ts';
import {
  type CampaignAudienceInput,
  type CampaignRowFragment,
  CancelCampaignDocument,
  CreateCampaignDocument,
  DeleteCampaignDocument,
  GetCampaignDocument,
  ListCampaignRecipientsDocument,
  ListCampaignsDocument,
  PauseCampaignDocument,
  PreviewCampaignDocument,
  ResumeCampaignDocument,
  StartCampaignDocument,
  TestCampaignDocument,
  UpdateCampaignDocument,
} from '../wire/documents.generated.ts';
import { camelKeys } from '../wire/names.ts';
import { timeField, toInstant } from '../wire/sending.ts';
import { time } from '../wire/values.ts';
import { recipientListRoutes } from './campaign-lists.ts';

const campaignRow = campaignRowBy(time);
const recipientRow = recipientRowBy(time);

/** Other filters of contacts are available in GraphQL only. */
const AUDIENCE = {
  group_ids: ids({ description: 'Contacts in any of these groups.' }),
  saved_filter_id: id({ description: 'Contacts that meet this saved filter, as it is now, when the campaign starts.' }),
  contact_ids: ids({ description: 'These contacts.' }),
  phones: texts({ description: 'These numbers; those that no contact has become contacts.' }),
  list_id: id({ description: 'The people of an uploaded list.' }),
};

const givenNames = (audience: object): string[] =>
  Object.entries(audience).flatMap(([name, value]) => (value == null || value === '' ? [] : name));

/** Exactly one field must be given; null counts as missing. */
function checkAudience({ audience }: { readonly audience?: unknown }, add: AddFault): void {
  if (isObject(audience) && givenNames(audience).length !== 1)
    add('audience', `Give exactly one of ${Object.keys(AUDIENCE).join(', ')}.`, { standIn: { list_id: 0 } });
}

const audienceOf = (audience: Readonly<Record<string, unknown>>): CampaignAudienceInput =>
  camelKeys(Object.fromEntries(givenNames(audience).map(name => [name, audience[name]]))) as CampaignAudienceInput;

const SETTINGS = {
  channel_id: id(),
  messages_per_second: whole({ minimum: 1, maximum: 1_000 }),
  sending_hours: object({ start: requiredText(), end: requiredText() }),
  frequency_cap: object({ messages: requiredWhole(), days: requiredWhole() }),
  first_wave: whole({ minimum: 1, maximum: 100_000 }),
  first_wave_seconds: whole({ minimum: 1, maximum: 86_400 }),
  max_failure_percent: whole({ minimum: 1, maximum: 100 }),
};

/** Defines a route that performs an action on a campaign and returns it. */
const action = (
  name: string,
  message: string,
  document: TypedDocumentNode<
    { readonly result: { readonly row: CampaignRowFragment | null } },
    { readonly input: { readonly id: string; readonly idempotencyKey?: string | null | undefined } }
  >,
): Route =>
  route({
    method: 'POST',
    path: `/campaigns/:id/${name}`,
    resource: 'Campaign',
    document,
    answer: selectionOf('result.row'),
    errors: ['CONFLICT'],
    variables: ({ call, id: key }) => ({ input: camelKeys({ id: key, idempotencyKey: call.idempotencyKey }) }),
    respond: ({ result: { row } }) => ({ message, data: campaignRow(requireRow(row, 'Campaign')) }),
  });

/** Fields that have other names in the bodies of other routes. */
const NAMES = { 'template.header.text': 'template.header.text', 'audience.groupIds': 'audience.group_ids' };

export const campaignRoutes: readonly Route[] = [
  ...recipientListRoutes,
  route({
    method: 'GET',
    path: '/campaigns',
    document: ListCampaignsDocument,
    list: CAMPAIGN_LIST,
    answer: selectionOf('list.nodes'),
    variables: ({ list }) => list,
    respond: ({ list: connection }, { list }) => listResponse('Campaigns', connection, list, campaignRow),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id',
    resource: 'Campaign',
    document: GetCampaignDocument,
    answer: selectionOf('row'),
    variables: ({ id: key }) => ({ id: key }),
    respond: ({ row }) => ({ message: 'Campaign', data: campaignRow(requireRow(row, 'Campaign')) }),
  }),
  route({
    method: 'POST',
    path: '/campaigns',
    document: CreateCampaignDocument,
    status: 201,
    body: body(
      {
        name: requiredText({ maxLength: 255 }),
        template: requiredObject(TEMPLATE_FIELDS),
        audience: requiredObject(AUDIENCE),
        ...SETTINGS,
      },
      checkAudience,
    ),
    answer: selectionOf('result.row'),
    example: {
      name: 'Summer sale',
      template: { name: 'summer_sale', language: 'en', body: ['@{contact_first_name|there}'] },
      audience: { group_ids: [1] },
    },
    errors: ['FEATURE_NOT_AVAILABLE', 'MESSAGING_NOT_CONFIGURED'],
    names: NAMES,
    variables: ({ call, body: { audience, ...given } }) => ({
      input: { ...camelKeys({ ...given, idempotencyKey: call.idempotencyKey }), audience: audienceOf(audience) },
    }),
    respond: ({ result: { row } }) => ({ message: 'Campaign created', data: campaignRow(requireRow(row, 'Campaign')) }),
  }),
  route({
    method: 'PATCH',
    path: '/campaigns/:id',
    resource: 'Campaign',
    document: UpdateCampaignDocument,
    body: body(
      {
        name: text({ maxLength: 255 }),
        template: object(TEMPLATE_FIELDS),
        audience: object(AUDIENCE),
        ...SETTINGS,
      },
      checkAudience,
    ),
    answer: selectionOf('result.row'),
    example: { messages_per_second: 20 },
    errors: ['CONFLICT', 'FEATURE_NOT_AVAILABLE', 'MESSAGING_NOT_CONFIGURED'],
    names: NAMES,
    variables: ({ call, id: key, body: { audience, ...given } }) => ({
      input: {
        ...camelKeys({ ...given, id: key, idempotencyKey: call.idempotencyKey }),
        ...(audience !== undefined && { audience: audience && audienceOf(audience) }),
      },
    }),
    respond: ({ result: { row } }) => ({ message: 'Campaign updated', data: campaignRow(requireRow(row, 'Campaign')) }),
  }),
  route({
    method: 'DELETE',
    path: '/campaigns/:id',
    resource: 'Campaign',
    document: DeleteCampaignDocument,
    errors: ['CONFLICT'],
    variables: ({ id: key }) => ({ input: { id: key } }),
    respond: (_data, { id: key }) => ({ message: 'Campaign deleted', data: { id: Number(key) } }),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/preview',
    resource: 'Campaign',
    document: PreviewCampaignDocument,
    answer: selectionOf('preview'),
    variables: ({ id: key }) => ({ id: key }),
    respond: ({ preview }) => {
      const { skips, ...others } = requireRow(preview, 'Campaign');
      const lower = skips.map(({ reason, count }) => ({ reason: reason.toLowerCase(), count }));
      return { message: 'Preview', data: { ...others, skips: lower } };
    },
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/recipients',
    resource: 'Campaign',
    document: ListCampaignRecipientsDocument,
    summary: 'Lists the recipients of a campaign that has started, in the order of their contacts.',
    list: RECIPIENT_LIST,
    answer: selectionOf('campaign.recipients.nodes'),
    variables: ({ id: key, list: { first, offset, filter } }) => ({ id: key, first, offset, filter }),
    respond: ({ campaign }, { list }) =>
      listResponse('Recipients', requireRow(campaign?.recipients, 'Campaign'), list, recipientRow),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/start',
    resource: 'Campaign',
    document: StartCampaignDocument,
    body: body({ scheduled_at: timeField({}) }),
    answer: selectionOf('result.row'),
    example: { scheduled_at: '2030-01-31T09:00:00Z' },
    errors: ['CONFLICT', 'FEATURE_NOT_AVAILABLE', 'MESSAGING_NOT_CONFIGURED'],
    variables: ({ call, id: key, body: { scheduled_at: at } }) => ({
      input: camelKeys({ scheduled_at: at ? toInstant(at) : undefined, id: key, idempotencyKey: call.idempotencyKey }),
    }),
    respond: ({ result: { row } }) => ({ message: 'Campaign started', data: campaignRow(requireRow(row, 'Campaign')) }),
  }),
  action('pause', 'Campaign paused', PauseCampaignDocument),
  action('resume', 'Campaign resumed', ResumeCampaignDocument),
  action('cancel', 'Campaign cancelled', CancelCampaignDocument),
  route({
    method: 'POST',
    path: '/campaigns/:id/test',
    resource: 'Campaign',
    document: TestCampaignDocument,
    body: body({ phone: requiredText() }),
    answer: selectionOf('result.row'),
    example: { phone: '+4915123456789' },
    errors: ['FEATURE_NOT_AVAILABLE', 'MESSAGING_NOT_CONFIGURED', 'CONTACT_OPTED_OUT', 'FEATURE_LIMIT_EXCEEDED'],
    names: { phone: 'phone', to: 'phone' },
    variables: ({ call, id: key, body: given }) => ({
      input: camelKeys({ ...given, id: key, idempotencyKey: call.idempotencyKey }),
    }),
    respond: ({ result: { row } }) => {
      const message = requireRow(row, 'Message');
      return { message: 'Test sent', data: { ...message, status: message.status.toLowerCase() } };
    },
  }),
];

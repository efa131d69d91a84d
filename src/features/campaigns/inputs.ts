import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../schema/builder.ts';
import { ContactFilter } from '../contacts/inputs.ts';
import { TemplateInput } from '../templates/sending/send-schema.ts';
import { MAX_GROUPS, MAX_NAMED } from './audience/audience.ts';
import { DEFAULTS, MAX } from './campaign.ts';
import { type CampaignStatus, STATUSES } from './state.ts';

const STATUS_WORDS: Readonly<Record<CampaignStatus, string>> = {
  draft: 'It was not started.',
  scheduled: 'It starts at its time.',
  running: 'It sends messages.',
  paused: 'It sends nothing until it is resumed; see `statusCode`.',
  completed: 'Every recipient was messaged or skipped.',
  cancelled: 'It was cancelled.',
  failed: 'It cannot go on; see `statusCode`.',
};

export const CampaignStatusEnum = builder.enumType('CampaignStatus', {
  description: 'State of a campaign.',
  values: Object.fromEntries(
    STATUSES.map(value => [value.toUpperCase(), { value, description: STATUS_WORDS[value] }]),
  ) as Record<string, { value: CampaignStatus; description: string }>,
});

const AudienceInput = builder.inputType('CampaignAudienceInput', {
  description:
    'The recipients of a campaign. Each contact gets it once, even if it is in several parts of the audience.',
  isOneOf: true,
  fields: t => ({
    groupIds: t.idList({ description: `Contacts in any of these groups, at most ${MAX_GROUPS}.` }),
    filter: t.field({ type: ContactFilter, description: 'Contacts that meet this filter when the campaign starts.' }),
    savedFilterId: t.id({
      description: 'Contacts that meet this saved filter, as it is now, when the campaign starts.',
    }),
    contactIds: t.idList({ description: `These contacts, at most ${MAX_NAMED}.` }),
    phones: t.stringList({
      description: `These numbers, at most ${MAX_NAMED}. Those that no contact has become contacts, which requires \`contacts:write\`.`,
    }),
    listId: t.id({ description: 'The people of an uploaded list.' }),
  }),
});

const HoursInput = builder.inputType('SendingHoursInput', {
  description:
    "Times of day between which messages are sent, in the recipient's time zone: the contact's `timeZone`, else that of the number's country, and where that has several zones, all of them.",
  fields: t => ({
    start: t.string({ required: true, description: 'First minute, such as `09:00`.' }),
    end: t.string({ required: true, description: 'First minute after, such as `20:00`; it may be on the next day.' }),
  }),
});

const CapInput = builder.inputType('FrequencyCapInput', {
  description: "Limit of messages of the template's category to one person, from campaigns and other sends.",
  fields: t => ({
    messages: t.int({ required: true, description: `Messages, 1 to ${MAX.capMessages}.` }),
    days: t.int({ required: true, description: `Days, 1 to ${MAX.capDays}.` }),
  }),
});

const TEMPLATE =
  'The template and its values, in which merge fields of the contact (`@{contact_first_name|there}`) and of the list (`@{column.code|none}`) are filled for each recipient; one that is empty and has no fallback is removed. A header file should be an upload, so that the network has it once.';

const options = (t: InputFields) => ({
  channelId: t.id({ description: 'The channel that sends. Default: the default channel.' }),
  messagesPerSecond: t.int({
    description: `Messages queued per second, 1 to ${MAX.perSecond}. Default: the rate of the channel.`,
  }),
  sendingHours: t.field({
    type: HoursInput,
    description: 'When recipients may get the message. Default: at any time.',
  }),
  frequencyCap: t.field({
    type: CapInput,
    description: 'Skips people who were messaged too often recently. Default: no cap.',
  }),
  firstWave: t.int({
    description: `Recipients who get the message first; the others wait for the outcome. 1 to ${MAX.firstWave}. Default: 100, or 1 % of the recipients if that is more.`,
  }),
  firstWaveSeconds: t.int({
    description: `Longest wait for the outcome of the first wave, 1 to ${MAX.firstWaveSeconds} seconds. Default: ${DEFAULTS.firstWaveSeconds}.`,
  }),
  maxFailurePercent: t.int({
    description: `The campaign pauses when a greater share of its messages failed, in percent. Default: ${DEFAULTS.maxFailurePercent}.`,
  }),
  idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
});

export const CreateCampaignInput = builder.inputType('CreateCampaignInput', {
  description: 'A new campaign, which is a draft until it is started.',
  fields: t => ({
    name: t.string({ required: true, description: `Name of the campaign, at most ${MAX.name} characters.` }),
    template: t.field({ type: TemplateInput, required: true, description: TEMPLATE }),
    audience: t.field({ type: AudienceInput, required: true, description: 'Who gets it.' }),
    ...options(t),
  }),
});

export const UpdateCampaignInput = builder.inputType('UpdateCampaignInput', {
  description: 'Changes to a campaign that has not started. Omitted fields keep their values, null removes a value.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the campaign.' }),
    name: t.string({ description: `Name of the campaign, at most ${MAX.name} characters.` }),
    template: t.field({ type: TemplateInput, description: TEMPLATE }),
    audience: t.field({ type: AudienceInput, description: 'Who gets it.' }),
    ...options(t),
  }),
});

export const StartCampaignInput = builder.inputType('StartCampaignInput', {
  description: 'The start of a campaign.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the campaign.' }),
    scheduledAt: t.field({ type: 'DateTime', description: 'When it starts. Default: now.' }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

/** The input of a mutation that takes a campaign alone. */
export const campaignIdInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the campaign.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  });

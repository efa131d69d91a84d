import { CodedError, FieldErrorList } from '../../core/errors.ts';
import { parseId } from '../../core/global-ids.ts';
import type { Maybe } from '../../core/maybe.ts';
import { tenantOf } from '../../core/principal.ts';
import { isLonger, isStorable, UNSTORABLE } from '../../platform/text.ts';
import type { Context } from '../../schema/context.ts';
import { keyFaults } from '../../schema/idempotency-key.ts';
import { channelLoader } from '../channels/loaders.ts';
import { checkLengths } from '../messages/send/content.ts';
import { MERGE_FIELDS, unknownFields } from '../messages/send/merge-fields.ts';
import { templateContent } from '../templates/sending/send-template.ts';
import type { Audience } from './audience/audience.ts';
import { type AudienceInput, parseAudience } from './audience/parse-audience.ts';
import {
  type CampaignFields,
  type CampaignRow,
  type CampaignTemplate,
  DEFAULTS,
  type FrequencyCap,
  MAX,
  type SendingHours,
} from './campaign.ts';
import { columnField, withoutMergeFaults } from './column-fields.ts';
import { recipientListLoader } from './lists/loaders.ts';

/** The fields of a campaign; of an update, those that are left out keep their value. */
export interface CampaignInput {
  readonly name?: Maybe<string>;
  readonly template?: Maybe<CampaignTemplate>;
  readonly audience?: Maybe<AudienceInput>;
  readonly channelId?: Maybe<string>;
  readonly messagesPerSecond?: Maybe<number>;
  readonly sendingHours?: Maybe<SendingHours>;
  readonly frequencyCap?: Maybe<FrequencyCap>;
  readonly firstWave?: Maybe<number>;
  readonly firstWaveSeconds?: Maybe<number>;
  readonly maxFailurePercent?: Maybe<number>;
  readonly idempotencyKey?: Maybe<string>;
}

/** `given`, or what it was before. */
const kept = <T>(given: T | undefined, before: T): T => (given === undefined ? before : given);

/**
 * Checks the fields of a campaign, all at once.
 * @param before the campaign that is changed
 * @throws VALIDATION_ERROR by field; FEATURE_NOT_AVAILABLE; MESSAGING_NOT_CONFIGURED without a channel
 */
export async function parseCampaign(
  context: Context,
  input: CampaignInput,
  before: CampaignRow | undefined,
): Promise<CampaignFields> {
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  if (before) errors.refuseNull(input, ['name', 'template', 'audience', 'firstWaveSeconds', 'maxFailurePercent']);
  errors.include(keyFaults(input.idempotencyKey));
  const name = input.name?.trim() ?? before?.name ?? '';
  if (name === '') errors.add('name', 'Is required.', 'REQUIRED');
  else if (isLonger(name, MAX.name)) errors.add('name', `May have at most ${MAX.name} characters.`, 'TOO_LONG');
  else if (!isStorable(name)) errors.add('name', UNSTORABLE);
  // -1 is the id of no channel.
  const given = input.channelId == null ? input.channelId : (parseId(tenantId, 'Channel', input.channelId) ?? -1);
  const channelId = kept(given, before?.channel_id ?? null);
  const isChannelKnown = channelId === null || (await channelLoader(context).load(channelId)) !== undefined;
  if (!isChannelKnown) errors.add('channelId', 'There is no channel with this id.', 'REFERENCE_NOT_FOUND');
  const within = (field: string, value: number | null, minimum: number, maximum: number): void => {
    if (value !== null && (value < minimum || value > maximum))
      errors.add(field, `Must be from ${minimum} to ${maximum}.`, 'OUT_OF_RANGE');
  };
  const perSecond = kept(input.messagesPerSecond, before?.messages_per_second ?? null);
  within('messagesPerSecond', perSecond, 1, MAX.perSecond);
  const hours = kept(input.sendingHours, before?.sending_hours ?? null);
  checkHours(hours, errors);
  const cap = kept(input.frequencyCap, before?.frequency_cap ?? null);
  within('frequencyCap.messages', cap?.messages ?? null, 1, MAX.capMessages);
  within('frequencyCap.days', cap?.days ?? null, 1, MAX.capDays);
  const firstWave = kept(input.firstWave, before?.first_wave ?? null);
  within('firstWave', firstWave, 1, MAX.firstWave);
  const waveSeconds = input.firstWaveSeconds ?? before?.first_wave_seconds ?? DEFAULTS.firstWaveSeconds;
  within('firstWaveSeconds', waveSeconds, 1, MAX.firstWaveSeconds);
  const maxFailurePercent = input.maxFailurePercent ?? before?.max_failure_percent ?? DEFAULTS.maxFailurePercent;
  within('maxFailurePercent', maxFailurePercent, 1, 100);
  const template = cleaned(input.template ?? before?.template);
  if (!template) errors.add('template', 'Is required.', 'REQUIRED');
  else if (isChannelKnown) await checkTemplate(context, template, channelId, errors);
  const { audience: people } = input;
  if (!(people || before)) errors.add('audience', 'Is required.', 'REQUIRED');
  // Phone numbers are stored as contacts by `parseAudience`: before, all else is checked.
  if (template && people?.phones) await checkColumns(context, template, undefined, errors);
  const audience = people ? await errors.collect(() => parseAudience(context, people, name, errors)) : before?.audience;
  if (template && audience && !people?.phones) await checkColumns(context, template, audience, errors);
  errors.throwIfAny();
  return {
    name,
    channel_id: channelId,
    template: template as CampaignTemplate,
    audience: audience as Audience,
    messages_per_second: perSecond,
    sending_hours: hours && { start: hours.start, end: hours.end },
    frequency_cap: cap && { messages: cap.messages, days: cap.days },
    first_wave: firstWave,
    first_wave_seconds: waveSeconds,
    max_failure_percent: maxFailurePercent,
  };
}

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

function checkHours(hours: SendingHours | null, errors: FieldErrorList): void {
  if (!hours) return;
  for (const field of ['start', 'end'] as const)
    if (!TIME.test(hours[field]))
      errors.add(`sendingHours.${field}`, `Must be a time of day such as 09:00, not ${hours[field]}.`);
  if (hours.start === hours.end) errors.add('sendingHours.end', 'Must be another time than the start.');
}

/** As the database returns it: without nulls, and with plain objects. */
const cleaned = (template: CampaignTemplate | null | undefined): CampaignTemplate | undefined =>
  template == null
    ? undefined
    : (JSON.parse(JSON.stringify(template, (_key, value: unknown) => value ?? undefined)) as CampaignTemplate);

/** Reports faults of the template that concern every recipient, but those of merge fields (`checkColumns`). Approval is checked at the start. */
async function checkTemplate(
  context: Context,
  template: CampaignTemplate,
  channelId: number | null,
  errors: FieldErrorList,
): Promise<void> {
  try {
    checkLengths((await templateContent(context, { ...template, channelId })).texts);
  } catch (thrown) {
    const error = withoutMergeFaults(thrown);
    if (!(error instanceof CodedError) || error.faults.length === 0) throw error;
    for (const { field, message, code } of error.faults) errors.add(`template.${field}`, message, code);
  }
}

/** The texts of a template by input field. */
function* textsOf({ header, body, bodyByName, buttons }: CampaignTemplate): Generator<readonly [string, string]> {
  if (header?.text != null) yield ['header.text', header.text];
  for (const [index, text] of (body ?? []).entries()) yield [`body.${index}`, text];
  for (const { name, value } of bodyByName ?? []) yield [`bodyByName.${name}`, value];
  for (const { index, value } of buttons ?? []) yield [`buttons.${index}`, value];
}

/** Merge fields must exist: those of contacts, and the columns of the list. */
async function checkColumns(
  context: Context,
  template: CampaignTemplate,
  audience: Audience | undefined,
  errors: FieldErrorList,
): Promise<void> {
  const isOfList = audience !== undefined && 'listId' in audience;
  const list = isOfList ? await recipientListLoader(context).load(audience.listId) : undefined;
  // Another fault already, and nobody knows its columns.
  if (isOfList && !list) return;
  const columns = Object.fromEntries((list?.columns ?? []).map(name => [columnField(name), '']));
  for (const [field, text] of textsOf(template)) {
    const unknown = unknownFields(text, columns);
    if (unknown.length > 0)
      errors.add(
        `template.${field}`,
        `Unknown merge field: ${unknown.join(', ')}. Known merge fields: ${[...MERGE_FIELDS, ...Object.keys(columns)].join(', ')}.`,
        'UNKNOWN_MERGE_FIELD',
      );
  }
}

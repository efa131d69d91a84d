import { CodedError, FieldErrorList, invalid, withFaultsOf } from '../../../core/errors.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../../core/principal.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { Context } from '../../../schema/context.ts';
import { requireActiveChannel } from '../../channels/require-channel.ts';
import { MAX_FILENAME, mediaIdOf, nameOnly } from '../../messages/content/media/file.ts';
import { checkLink, mediaOf } from '../../messages/content/media/send-media.ts';
import type { MessageRow } from '../../messages/message.ts';
import { type Composed, type Content, checkTexts as checkMergeFields, refusing } from '../../messages/send/content.ts';
import type { SendInput, SendRequest } from '../../messages/send/request.ts';
import { preview, send } from '../../messages/send/send.ts';
import { APPROVED, languageOf } from '../template.ts';
import { FILE_KINDS, type Filling, isCode, missingValuesOf, textFault, type Values } from './parameters.ts';
import { componentsOf, headerObject, render } from './render.ts';
import { type Sendable, sendableLoader } from './sendables.sql.ts';

export interface SendTemplateInput extends SendInput, Values {
  readonly name: string;
  readonly language: string;
  /** The required category. */
  readonly category?: string | null | undefined;
}

/** The caller's mutation, which scopes idempotency keys, and the feature that the plan must include. */
export interface SendAs {
  readonly operation: string;
  /** `otp` sends one-time codes only. */
  readonly feature: 'templates' | 'otp';
}

const AS_TEMPLATE: SendAs = { operation: 'sendMessage', feature: 'templates' };

/** Replaces a one-time code wherever it would be stored: in messages, events, webhooks and fingerprints. */
const HIDDEN_CODE = '••••••';

/**
 * Sends a template, inside or outside the service window. Validates everything that the network would refuse, with errors on the
 * input's fields; this takes one more round trip than a text, and another one for an uploaded file.
 *
 * The code of a one-time-code template is sent to the network only. It is sealed until it is sent; stored and published data has
 * `••••••` instead. The OTP feature calls this with `body: [code]`; buttons get the code automatically.
 *
 * Throws the errors of `send`; VALIDATION_ERROR on name (unknown, not approved), language, header.…, body.<n>, bodyByName.<name>,
 * buttons.<index>; FEATURE_NOT_AVAILABLE.
 */
export async function sendTemplate(
  context: Context,
  input: SendTemplateInput,
  { operation, feature }: SendAs = AS_TEMPLATE,
): Promise<MessageRow> {
  const request = await templateRequest(context, input, { operation, feature });
  return send(context, request.operation, request.input, request.content);
}

/** Send request of `sendTemplate`. @throws its errors, except those of the recipient */
export async function templateRequest(
  context: Context,
  input: SendTemplateInput,
  { operation, feature }: SendAs = AS_TEMPLATE,
): Promise<SendRequest> {
  requireFeature(callerOf(context).tenant, feature);
  const { keyed, content } = await prepare(context, input, feature);
  return { operation, input: keyed, content };
}

/**
 * Dry run of `sendTemplate`: the content it would send, and the same refusals. Monthly and contact limits of the plan are not
 * checked, because they are enforced when something is counted.
 */
export async function previewTemplate(
  context: Context,
  input: Omit<SendTemplateInput, 'idempotencyKey'>,
): Promise<Composed> {
  requireFeature(callerOf(context).tenant, AS_TEMPLATE.feature);
  const { content } = await prepare(context, input, AS_TEMPLATE.feature);
  return preview(context, input, content);
}

/** The content that `sendTemplate` would send to anybody. @throws like `sendTemplate`, for everything but the recipient */
export const preparedContent = async (
  context: Context,
  input: Omit<SendTemplateInput, 'to' | 'idempotencyKey'>,
): Promise<Content> => (await prepare(context, { ...input, to: '' }, AS_TEMPLATE.feature)).content;

/** Checks what `sendTemplate` would refuse for every recipient, with the same errors. */
export async function checkTemplate(context: Context, input: Omit<SendTemplateInput, keyof SendInput>): Promise<void> {
  requireFeature(callerOf(context).tenant, AS_TEMPLATE.feature);
  checkMergeFields((await preparedContent(context, input)).texts);
}

/** Categories of templates from which people can opt out separately. */
export const CONSENT: Readonly<Record<string, Content['category']>> = { MARKETING: 'marketing', UTILITY: 'utility' };

/**
 * The content, and the input in the form that the fingerprint covers: identical for a repetition, even if template or file
 * changed meanwhile.
 */
async function prepare(
  context: Context,
  input: SendTemplateInput,
  feature: SendAs['feature'],
): Promise<{ keyed: SendTemplateInput; content: Content }> {
  let keyed = input;
  try {
    const file = await fileOf(context, input);
    const sending = { ...input, channelId: input.channelId ?? file?.channelId };
    const template = await requireTemplate(context, sending);
    keyed = withoutCode(input, template);
    checkSendable(template, feature, input.category);
    return { keyed, content: contentOf(template, sending, file) };
  } catch (error) {
    const refusal = await withOtherFaults(context, input, feature, error);
    // A repetition gets the first result even if the template can no longer be sent.
    if (input.idempotencyKey) return { keyed, content: refusing('template', refusal) };
    throw refusal;
  }
}

/** The error of a template's file, name or values with those that the others have regardless. */
async function withOtherFaults(
  context: Context,
  input: SendTemplateInput,
  feature: SendAs['feature'],
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof CodedError) || (error.faults.length === 0 && error.code !== 'NOT_FOUND')) return error;
  const errors = new FieldErrorList();
  errors.include(error.faults);
  const checks = [
    async () => checkMergeFields(lenientTexts(input)),
    async () => {
      const template = await requireTemplate(context, input);
      checkSendable(template, feature, input.category);
      missingValuesOf(template, input);
    },
  ];
  for (const check of checks)
    try {
      await check();
    } catch (other) {
      if (other instanceof CodedError) errors.include(other.faults);
      else throw other;
    }
  return errors.isEmpty ? error : errors.toError();
}

/**
 * Prepares content for a later send, whether or not the template is approved now.
 * @throws VALIDATION_ERROR like sendTemplate; on name for one-time-code templates, which need a code for each send
 */
export async function templateContent(
  context: Context,
  input: Values & Pick<SendTemplateInput, 'name' | 'language' | 'channelId'>,
): Promise<Content> {
  requireFeature(callerOf(context).tenant, 'templates');
  const file = await fileOf(context, input);
  const sending = { ...input, channelId: input.channelId ?? file?.channelId };
  const template = await requireTemplate(context, sending);
  if (isCode(template)) throw invalid({ name: ['A template of one-time codes is sent by sendOtp alone.'] });
  return contentOf(template, sending, file);
}

interface HeaderFile {
  /** `{ id }` or `{ link }`, in the network's format. */
  readonly parameter: JsonObject;
  readonly link: string | null;
  readonly filename: string | null;
  /** The channel of an upload, from which alone it can be sent. */
  readonly channelId: number | undefined;
  readonly upload: Content['upload'];
}

/** The file given for the header, before checking that the template has a media header. */
async function fileOf(
  context: Context,
  { header, channelId }: Pick<SendTemplateInput, 'header' | 'channelId'>,
): Promise<HeaderFile | undefined> {
  const kind = FILE_KINDS.find(name => header?.[name] != null);
  const value = kind && header?.[kind];
  if (!kind || !value) return undefined;
  const errors = new FieldErrorList();
  const field = `header.${kind}`;
  const { link } = value;
  const mediaId = value.mediaId == null ? undefined : mediaIdOf(tenantOf(context), value.mediaId);
  if (link == null && mediaId == null) errors.add(field, 'Give either a link or a mediaId.', 'REQUIRED');
  if (link != null && mediaId != null) errors.add(field, 'Give either a link or a mediaId.', 'SURPLUS');
  checkLink(link, `${field}.link`, errors);
  const upload = await mediaOf(context, { kind, mediaId, channelId }, errors, `${field}.mediaId`);
  const given = kind === 'document' ? header?.document?.filename : undefined;
  const filename = given ? nameOnly(given) : '';
  if (given && (filename === '' || given.length > MAX_FILENAME))
    errors.add(
      `${field}.filename`,
      `Must have 1 to ${MAX_FILENAME} characters.`,
      filename === '' ? 'INVALID' : 'TOO_LONG',
    );
  errors.throwIfAny();
  const name = kind === 'document' ? filename || upload?.filename || null : null;
  return {
    parameter: { ...(upload ? { id: upload.network_media_id } : { link }), ...(name && { filename: name }) },
    link: link ?? null,
    filename: name,
    channelId: upload?.channel_id,
    upload: upload && { field: `${field}.mediaId`, expiresAt: upload.expires_at },
  };
}

type FoundTemplate = Sendable & { readonly components: readonly JsonObject[] };

/** Finds the requested template. @throws VALIDATION_ERROR on name or language; NOT_FOUND, MESSAGING_NOT_CONFIGURED without its channel */
async function requireTemplate(
  context: Context,
  { channelId, name, language: given }: Pick<SendTemplateInput, 'channelId' | 'name' | 'language'>,
): Promise<FoundTemplate> {
  const language = languageOf(given);
  const found = await sendableLoader(context).load({ channelId: channelId ?? null, name, language });
  // Decided by the statement that found no channel: another one may find the channel that was connected in between.
  if (!found) return requireActiveChannel<never>(undefined, channelId != null, 'channelId');
  if (found.length === 0)
    throw invalid(
      {
        name: [
          'There is no template with this name. A template created outside this gateway appears after the next sync.',
        ],
      },
      'REFERENCE_NOT_FOUND',
    );
  const template = found.find(one => one.language === language);
  if (!template?.components)
    throw invalid(
      {
        language: [
          `The template does not exist in ${language || 'this language'}. It exists in ${found.map(one => one.language).join(', ')}.`,
        ],
      },
      'REFERENCE_NOT_FOUND',
    );
  return { ...template, components: template.components };
}

/** @throws VALIDATION_ERROR on name */
function checkSendable(
  template: FoundTemplate,
  feature: SendAs['feature'],
  category: SendTemplateInput['category'],
): void {
  if (feature === 'otp' && !isCode(template))
    throw invalid({
      name: [`This template is one of the category ${template.category}: one-time codes need AUTHENTICATION.`],
    });
  if (category && template.category !== category)
    throw invalid({ name: [`This template is one of the category ${template.category}, and not ${category}.`] });
  if (template.status !== APPROVED) {
    const reason = template.status_reason === null ? '' : ` (${template.status_reason})`;
    throw invalid(
      { name: [`The template is ${template.status}${reason}: only APPROVED templates can be sent.`] },
      'NOT_APPROVED',
    );
  }
}

function contentOf(
  template: FoundTemplate,
  input: Values & Pick<SendTemplateInput, 'name'>,
  file: HeaderFile | undefined,
): Content {
  const filling = fillingOf(template, input);
  const header = headerObject(input.header, file?.parameter);
  const composed = (text: (field: string) => string): { readonly object: JsonObject; readonly shown: Composed } => {
    const object = {
      name: input.name,
      language: { code: template.language },
      components: componentsOf(filling, text, header),
    };
    const rendered = render(filling, text, { link: file?.link ?? null, filename: file?.filename ?? null });
    return { object, shown: { body: rendered.body, content: { ...object, rendered } } };
  };
  return {
    type: 'template',
    freeForm: false,
    isCode: isCode(template),
    templateId: template.id,
    category: CONSENT[template.category],
    // The default channel may have changed to another business account, with another template of this name.
    channelId: template.channel_id,
    upload: file?.upload,
    texts: filling.texts,
    compose(text) {
      checkTexts(filling, text);
      const { object, shown } = composed(text);
      return isCode(template) ? { ...composed(() => HIDDEN_CODE).shown, secret: object } : shown;
    },
  };
}

/** @throws VALIDATION_ERROR for missing and surplus values, with unknown merge fields of the others */
function fillingOf(template: FoundTemplate, input: Values): Filling {
  try {
    return missingValuesOf(template, input);
  } catch (error) {
    throw withFaultsOf(error, () => checkMergeFields(lenientTexts(input)));
  }
}

/** The values of the text, of which only the merge fields can be checked without its template. */
function lenientTexts({ body, bodyByName }: Values): Content['texts'] {
  const given = [
    ...(body ?? []).map((text, index) => [`body.${index}`, text] as const),
    ...(bodyByName ?? []).map(({ name, value }) => [`bodyByName.${name}`, value] as const),
  ];
  return Object.fromEntries(
    given.map(([field, text]) => [field, { text, maxLength: text.length, mayBeEmpty: true }] as const),
  );
}

/** The network's rules for merged parameter texts. */
function checkTexts({ slots }: Filling, text: (field: string) => string): void {
  const errors = new FieldErrorList();
  for (const { field } of slots) {
    const fault = textFault(text(field));
    if (fault !== undefined) errors.add(field, fault);
  }
  errors.throwIfAny();
}

/** The input without its code, so that two requests with one key that differ only by the code have the same fingerprint. */
const withoutCode = <Input extends SendTemplateInput>(input: Input, template: FoundTemplate): Input =>
  isCode(template) ? { ...input, body: [HIDDEN_CODE], bodyByName: null, buttons: null } : input;

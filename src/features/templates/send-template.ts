import type { Context } from '../../context.ts';
import { FieldErrorList, invalid } from '../../errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import { callerOf, tenantOf } from '../caller.ts';
import { MAX_FILENAME, mediaIdOf, nameOnly } from '../media/file.ts';
import { linkFault, mediaOf } from '../media/send-media.ts';
import type { MessageRow } from '../messages/message.ts';
import { type Composed, type Content, preview, type SendInput, send } from '../messages/send.ts';
import { requireFeature } from '../tenants/feature.ts';
import { FILE_KINDS, type Filling, fillingOf, isCode, textFault, type Values } from './parameters.ts';
import { componentsOf, headerObject, render } from './render.ts';
import { sourceOf } from './source-of.ts';
import { findSendables, type Sendable } from './store.ts';
import { APPROVED, languageOf } from './template.ts';

export interface SendTemplateInput extends SendInput, Values {
  readonly name: string;
  readonly language: string;
  /** What its category has to be. */
  readonly category?: string | null | undefined;
}

/** On whose behalf: the mutation that idempotency keys belong to, and the feature that the plan has to include. */
export interface SendAs {
  readonly operation: string;
  /** `otp` sends one-time codes alone. */
  readonly feature: 'templates' | 'otp';
}

const AS_TEMPLATE: SendAs = { operation: 'sendTemplateMessage', feature: 'templates' };

/** Stands for a one-time code wherever it would be kept: in messages, events, webhooks and fingerprints. */
export const HIDDEN_CODE = '••••••';

/**
 * Sends a template, in or outside the service window. Everything that the network would refuse is refused here first, by the
 * field it came in; it takes one round trip more than a text does, and one more for a file that was uploaded.
 *
 * The code of a template of one-time codes goes to the network alone. It is kept sealed until it is sent; what is stored and
 * told has `••••••` in its place. The feature of one-time codes calls with `body: [code]`: buttons carry it by themselves.
 *
 * Errors as `send`; VALIDATION_ERROR on name (unknown, not approved), language, header.…, body.<n>, bodyByName.<name>,
 * buttons.<index>; FEATURE_NOT_AVAILABLE.
 */
export async function sendTemplate(
  context: Context,
  input: SendTemplateInput,
  { operation, feature }: SendAs = AS_TEMPLATE,
): Promise<MessageRow> {
  requireFeature(callerOf(context).tenant, feature);
  const { keyed, content } = await prepare(context, input, feature);
  return send(context, operation, keyed, content);
}

/**
 * What `sendTemplate` would send, and what it would refuse, without doing it. Plans' months and contacts are not looked at:
 * they are counted when something is counted.
 */
export async function previewTemplate(
  context: Context,
  input: Omit<SendTemplateInput, 'idempotencyKey'>,
): Promise<Composed> {
  requireFeature(callerOf(context).tenant, AS_TEMPLATE.feature);
  const { content } = await prepare(context, input, AS_TEMPLATE.feature);
  return preview(context, input, content);
}

/** What is sent, and the input as its fingerprint is made of it: the same for a repetition, whatever became of template and file since. */
async function prepare(
  context: Context,
  input: SendTemplateInput,
  feature: SendAs['feature'],
): Promise<{ keyed: SendTemplateInput; content: Content }> {
  let keyed = input;
  try {
    const file = await fileOf(context, input);
    const sending = { ...input, channelId: input.channelId ?? file?.channelId };
    const template = await wanted(context, sending);
    keyed = withoutCode(input, template);
    checkSendable(template, feature, input.category);
    return { keyed, content: contentOf(template, sending, file) };
  } catch (error) {
    // A repetition gets the answer of the first request also when the template could not be sent any more.
    if (input.idempotencyKey) return { keyed, content: refusing(error) };
    throw error;
  }
}

/** Content that cannot be sent, which shows only when nothing else is wrong and the request is no repetition. */
const refusing = (error: unknown): Content => ({
  type: 'template',
  freeForm: false,
  texts: {},
  compose() {
    throw error;
  },
});

/**
 * What would be sent now, whether the template is approved at this moment or not: for what is sent later.
 * @throws VALIDATION_ERROR as sendTemplate; on name for one-time codes, which somebody has to make for each send
 */
export async function templateContent(
  context: Context,
  input: Values & Pick<SendTemplateInput, 'name' | 'language' | 'channelId'>,
): Promise<Content> {
  requireFeature(callerOf(context).tenant, 'templates');
  const file = await fileOf(context, input);
  const sending = { ...input, channelId: input.channelId ?? file?.channelId };
  const template = await wanted(context, sending);
  if (isCode(template)) throw invalid({ name: ['A template of one-time codes is sent by sendOtp alone.'] });
  return contentOf(template, sending, file);
}

interface HeaderFile {
  /** `{ id }` or `{ link }`, as the network takes it. */
  readonly parameter: JsonObject;
  readonly link: string | null;
  readonly filename: string | null;
  /** Of an upload: it can be sent from there alone. */
  readonly channelId: number | undefined;
}

/** The file that is given for the header, before it is known whether the template has a place for it. */
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
  const mediaId = value.mediaId == null ? undefined : mediaIdOf(value.mediaId);
  if ((link == null) === (mediaId == null)) errors.add(field, 'Give either a link or a mediaId.');
  const fault = link == null ? undefined : linkFault(link);
  if (fault !== undefined) errors.add(`${field}.link`, fault);
  const upload = await mediaOf(context, { kind, mediaId, channelId }, errors, `${field}.mediaId`);
  const given = kind === 'document' ? header?.document?.filename : undefined;
  const filename = given ? nameOnly(given) : '';
  if (given && (filename === '' || given.length > MAX_FILENAME))
    errors.add(`${field}.filename`, `Must have 1 to ${MAX_FILENAME} characters.`);
  errors.throwIfAny();
  const name = kind === 'document' ? filename || upload?.filename || null : null;
  return {
    parameter: { ...(upload ? { id: upload.network_media_id } : { link }), ...(name && { filename: name }) },
    link: link ?? null,
    filename: name,
    channelId: upload?.channel_id,
  };
}

type Wanted = Sendable & { readonly components: readonly JsonObject[] };

/** The template that is meant. @throws VALIDATION_ERROR on name or language */
async function wanted(
  context: Context,
  { channelId, name, language: given }: Pick<SendTemplateInput, 'channelId' | 'name' | 'language'>,
): Promise<Wanted> {
  const language = languageOf(given);
  const found = await findSendables(context.db.read, tenantOf(context), channelId ?? null, name, language);
  if (!found) throw await noChannel(context, channelId);
  if (found.length === 0)
    throw invalid({
      name: ['There is no template of this name. One that was made elsewhere is known after the next sync.'],
    });
  const template = found.find(one => one.language === language);
  if (!template?.components)
    throw invalid({
      language: [
        `The template does not exist in ${language || 'this language'}. It exists in ${found.map(one => one.language).join(', ')}.`,
      ],
    });
  return { ...template, components: template.components };
}

/** @throws VALIDATION_ERROR on name */
function checkSendable(template: Wanted, feature: SendAs['feature'], category: SendTemplateInput['category']): void {
  if (feature === 'otp' && !isCode(template))
    throw invalid({
      name: [`This template is one of the category ${template.category}: one-time codes need AUTHENTICATION.`],
    });
  if (category && template.category !== category)
    throw invalid({ name: [`This template is one of the category ${template.category}, and not ${category}.`] });
  if (template.status !== APPROVED) {
    const reason = template.status_reason === null ? '' : ` (${template.status_reason})`;
    throw invalid({ name: [`The template is ${template.status}${reason}: only one that is APPROVED can be sent.`] });
  }
}

/** Why there is nothing to look for a template in. */
const noChannel = (context: Context, channelId: number | null | undefined): Promise<unknown> =>
  sourceOf(context.db.read, tenantOf(context), channelId ?? undefined).catch((error: unknown) => error);

function contentOf(
  template: Wanted,
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
    // Another default channel since then may be one of another business account, with another template of this name.
    channelId: template.channel_id,
    texts: filling.texts,
    compose(text) {
      checkTexts(filling, text);
      const { object, shown } = composed(text);
      return isCode(template) ? { ...composed(() => HIDDEN_CODE).shown, secret: object } : shown;
    },
  };
}

/** The network's rules for texts of parameters, once they are merged. */
function checkTexts({ slots }: Filling, text: (field: string) => string): void {
  const errors = new FieldErrorList();
  for (const { field } of slots) {
    const fault = textFault(text(field));
    if (fault !== undefined) errors.add(field, fault);
  }
  errors.throwIfAny();
}

/** The input without its code, so that two requests with one key that differ by their code alone are the same request. */
const withoutCode = <Input extends SendTemplateInput>(input: Input, template: Wanted): Input =>
  isCode(template) ? { ...input, body: [HIDDEN_CODE], bodyByName: null, buttons: null } : input;

import { type AddFault, alias, dropUndefined, fileOrId, requiredText, text } from '../runtime/fields.ts';
import type { TemplateInput } from './documents.generated.ts';
import { contentNames } from './sending.ts';

/** Maximum numbers of variables and buttons in the contract. */
const VARIABLES = 10;
const BUTTONS = 3;
const KINDS = ['image', 'video', 'document'] as const;
type Kind = (typeof KINDS)[number];

const numbers = (count: number, from: number): number[] => Array.from({ length: count }, (_, index) => from + index);

/** Names of the template's fields in errors. */
const NAMES: Readonly<Record<string, string>> = {
  name: 'template_name',
  'header.text': 'header_field_1',
  'header.document.filename': 'header_document_name',
  ...Object.fromEntries(
    KINDS.flatMap(kind => [
      [`header.${kind}`, `header_${kind}_url`],
      [`header.${kind}.link`, `header_${kind}_url`],
      [`header.${kind}.mediaId`, `header_${kind}_file`],
    ]),
  ),
  ...Object.fromEntries(numbers(VARIABLES, 1).map(number => [`body.${number - 1}`, `field_${number}`])),
  ...Object.fromEntries(numbers(BUTTONS, 0).map(index => [`buttons.${index}`, `button_${index}`])),
};

type Text = ReturnType<typeof text>;

export const TEMPLATE_NAME = alias(
  requiredText({ maxLength: 512, description: 'Name of an approved template.', examples: ['order_confirmation'] }),
  'name',
);
/** @param other a further name of the field */
export const languageNamed = (other: string) =>
  alias(
    requiredText({
      description: 'Language code in which the template exists, for example `en` or `en_US`.',
      examples: ['en_US'],
    }),
    other,
  );

const byKind = <Name extends string, Field>(name: (kind: Kind) => Name, field: (kind: Kind) => Field) =>
  Object.fromEntries(KINDS.map(kind => [name(kind), field(kind)])) as Record<Name, Field>;

/** The fields of a body that fill a template. */
export const TEMPLATE_VALUES = {
  ...(Object.fromEntries(
    numbers(VARIABLES, 1).map(number => [
      `field_${number}`,
      text({
        maxLength: 1_024,
        description: `Value of body variable ${number}, or of the named variable at position ${number}.`,
      }),
    ]),
  ) as Record<`field_${number}`, Text>),
  ...(Object.fromEntries(
    numbers(BUTTONS, 0).map(index => [
      `button_${index}`,
      text({
        description: `Value of button ${index}: the end of its URL, the code that it copies, or the payload of a quick reply.`,
      }),
    ]),
  ) as Record<`button_${number}`, Text>),
  ...byKind(
    kind => `header_${kind}_url` as const,
    kind => text({ maxLength: 2_000, description: `URL of the ${kind} in the header.` }),
  ),
  header_document_name: text({ maxLength: 255, description: 'File name of the document that the recipient sees.' }),
  ...byKind(
    kind => `header_${kind}_file` as const,
    kind => fileOrId({ description: `The ${kind} of the header as a file of a multipart form.` }),
  ),
  header_field_1: text({ maxLength: 60, description: 'Value of the variable in a text header.' }),
};

/** The values of a body, by the names of `TEMPLATE_VALUES`. */
export type TemplateValues = Readonly<Record<string, unknown>>;

const textOf = (body: TemplateValues, name: string): string | undefined => (body[name] as string | null) ?? undefined;

/** Reports values that would be ignored silently (numbers beyond the maximum, a name without a document), and headers given twice. */
export function checkTemplateValues(body: TemplateValues, add: AddFault): void {
  for (const name of Object.keys(body)) {
    const [, kind, number] = (body[name] != null && /^(field|button|header_field)_(\d+)$/.exec(name)) || [];
    if (kind === 'field' && (Number(number) < 1 || Number(number) > VARIABLES))
      add(name, `There are only field_1 to field_${VARIABLES}.`, 'surplus');
    if (kind === 'button' && Number(number) >= BUTTONS)
      add(name, `There are only button_0 to button_${BUTTONS - 1}.`, 'surplus');
    if (kind === 'header_field' && Number(number) !== 1) add(name, 'There is only header_field_1.', 'surplus');
  }
  const hasDocument = textOf(body, 'header_document_url') || textOf(body, 'header_document_file');
  if (textOf(body, 'header_document_name') && !hasDocument)
    add('header_document_name', 'Give header_document_url or header_document_file with it.', 'surplus');
  for (const kind of KINDS)
    if (textOf(body, `header_${kind}_url`) && textOf(body, `header_${kind}_file`))
      add(`header_${kind}_url`, `Give either header_${kind}_url or header_${kind}_file.`, 'surplus');
}

/** The values in GraphQL's names. */
export function templateInput(body: TemplateValues): Pick<TemplateInput, 'header' | 'body' | 'buttons'> {
  const texts = numbers(VARIABLES, 1).map(number => textOf(body, `field_${number}`));
  // A missing value before another one is empty, which the operation reports under the value's name.
  const last = texts.findLastIndex(value => value !== undefined);
  const header = dropUndefined({
    text: textOf(body, 'header_field_1'),
    image: fileInput(body, 'image'),
    video: fileInput(body, 'video'),
    document: fileInput(body, 'document'),
  });
  return {
    header: Object.keys(header).length > 0 ? header : undefined,
    body: texts.slice(0, last + 1).map(value => value ?? ''),
    buttons: numbers(BUTTONS, 0).flatMap(index => {
      const value = textOf(body, `button_${index}`);
      return value === undefined ? [] : { index, value };
    }),
  };
}

function fileInput(body: TemplateValues, kind: Kind) {
  const link = textOf(body, `header_${kind}_url`) || undefined;
  const mediaId = textOf(body, `header_${kind}_file`) || undefined;
  const filename = kind === 'document' ? textOf(body, 'header_document_name') || undefined : undefined;
  return link === undefined && mediaId === undefined ? undefined : dropUndefined({ link, mediaId, filename });
}

/** Names of the template's fields in errors. A header that the template lacks is reported under the field that was sent. */
export const templateNames = (body: TemplateValues): Readonly<Record<string, string>> =>
  contentNames('template', {
    ...NAMES,
    ...Object.fromEntries(
      KINDS.filter(kind => textOf(body, `header_${kind}_file`)).map(kind => [`header.${kind}`, `header_${kind}_file`]),
    ),
  });

interface SentFile {
  readonly link?: string;
  readonly filename?: string;
}
interface SentComponent {
  readonly type: string;
  readonly index?: string;
  readonly parameters: readonly {
    readonly type: string;
    readonly text?: string;
    readonly payload?: string;
    readonly coupon_code?: string;
    readonly action?: { readonly flow_token?: string };
    readonly image?: SentFile;
    readonly video?: SentFile;
    readonly document?: SentFile;
  }[];
}

/** The values of a sent message by the body's names: merged, and without a secret code. */
export function sentValues(content: unknown): Record<string, string> {
  const { components = [] } = content as { readonly components?: readonly SentComponent[] };
  const values: Record<string, string> = {};
  for (const { type, index, parameters } of components) {
    for (const [place, parameter] of parameters.entries()) {
      const value = parameter.text ?? parameter.payload ?? parameter.coupon_code ?? parameter.action?.flow_token;
      const kind = KINDS.find(name => parameter.type === name);
      if (kind)
        Object.assign(
          values,
          dropUndefined({
            [`header_${kind}_url`]: parameter[kind]?.link,
            header_document_name: parameter[kind]?.filename,
          }),
        );
      else if (value !== undefined)
        values[type === 'button' ? `button_${index}` : type === 'header' ? 'header_field_1' : `field_${place + 1}`] =
          value;
    }
  }
  return values;
}

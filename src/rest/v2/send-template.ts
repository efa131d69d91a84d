import { type Body, said } from '../body.ts';
import { SendTemplateDocument, type SendTemplateMessageInput } from '../documents.generated.ts';
import { type Fields, file, nullable, optional, required, selected, text } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { readSending, SENDING_ERRORS, sendingBody, UNSAID } from './sending.ts';

/** As many as the wire has names for. */
const FIELDS = 10;
const BUTTONS = 3;
const KINDS = ['image', 'video', 'document'] as const;

function numbered(count: number, from: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** What errors of GraphQL name otherwise than the wire does. */
export const TEMPLATE_NAMES: Readonly<Record<string, string>> = {
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
  ...Object.fromEntries(numbered(FIELDS, 1).map(number => [`body.${number - 1}`, `field_${number}`])),
  ...Object.fromEntries(numbered(BUTTONS, 0).map(index => [`buttons.${index}`, `button_${index}`])),
};

/** What has no place in the template is named as it was given: as a file, or by its address. */
export const filesGiven = (body: Body): Record<string, string> =>
  Object.fromEntries(
    KINDS.filter(kind => body.has(`header_${kind}_file`)).map(kind => [`header.${kind}`, `header_${kind}_file`]),
  );

type Values = Pick<SendTemplateMessageInput, 'header' | 'body' | 'buttons'>;

/** Numbers beyond those there are would be left out without a word. */
function refuseOthers(body: Body): void {
  for (const name of body.names) {
    const [, kind, number] = /^(field|button)_(\d+)$/.exec(name) ?? [];
    if (kind === 'field' && (Number(number) < 1 || Number(number) > FIELDS))
      body.errors.add(name, `There are only field_1 to field_${FIELDS}.`);
    if (kind === 'button' && Number(number) >= BUTTONS)
      body.errors.add(name, `There are only button_0 to button_${BUTTONS - 1}.`);
  }
}

export function readValues(body: Body): Values {
  refuseOthers(body);
  const texts = numbered(FIELDS, 1).map(number => body.text(`field_${number}`));
  // One that is left out before another one is empty, which is an error of its own name.
  const last = texts.findLastIndex(value => value != null);
  const buttons = numbered(BUTTONS, 0).map(index => ({ index, value: body.text(`button_${index}`) }));
  return {
    header: readHeader(body),
    body: texts.slice(0, last + 1).map(value => value ?? ''),
    buttons: buttons.flatMap(({ index, value }) => (value == null ? [] : { index, value })),
  };
}

function readHeader(body: Body): Values['header'] {
  const fileOf = (kind: (typeof KINDS)[number]) => {
    const link = body.text(`header_${kind}_url`) || undefined;
    const mediaId = body.fileOrId(`header_${kind}_file`);
    if (link !== undefined && mediaId !== undefined)
      body.errors.add(`header_${kind}_url`, `Give either header_${kind}_url or header_${kind}_file.`);
    const filename = kind === 'document' ? body.text('header_document_name') || undefined : undefined;
    return link === undefined && mediaId === undefined ? undefined : said({ link, mediaId, filename });
  };
  const header = said({
    text: body.text('header_field_1') ?? undefined,
    image: fileOf('image'),
    video: fileOf('video'),
    document: fileOf('document'),
  });
  return Object.keys(header).length > 0 ? header : undefined;
}

/** What the message carries, by the names in which it was given: merged, and without a code that is secret. */
function echoOf(sent: unknown): Record<string, string> {
  const { components = [] } = sent as { readonly components?: readonly SentComponent[] };
  const echo: Record<string, string> = {};
  for (const { type, index, parameters } of components) {
    for (const [place, parameter] of parameters.entries()) {
      const value = parameter.text ?? parameter.payload ?? parameter.coupon_code ?? parameter.action?.flow_token;
      const file = KINDS.find(kind => parameter.type === kind);
      if (file)
        Object.assign(
          echo,
          said({ [`header_${file}_url`]: parameter[file]?.link, header_document_name: parameter[file]?.filename }),
        );
      else if (value !== undefined)
        echo[type === 'button' ? `button_${index}` : type === 'header' ? 'header_field_1' : `field_${place + 1}`] =
          value;
    }
  }
  return echo;
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
interface SentFile {
  readonly link?: string;
  readonly filename?: string;
}

export const TEMPLATE_NAME = required(
  text('The name of an approved template.', { max: 512, example: 'order_confirmation' }),
);
export const LANGUAGE = required(text('A language in which it exists, such as `en` or `en_US`.', { example: 'en_US' }));

const LINKS: Fields = {
  ...Object.fromEntries(
    KINDS.map(kind => [
      `header_${kind}_url`,
      text(`Where the network fetches the ${kind} of the header.`, { max: 2_000 }),
    ]),
  ),
  header_document_name: text('What the person sees the document called.', { max: 255 }),
};
export const FILES: Fields = {
  ...LINKS,
  ...Object.fromEntries(KINDS.map(kind => [`header_${kind}_file`, file(`The ${kind} of the header itself.`)])),
};
export const VALUES: Fields = {
  header_field_1: text('The value of the variable of a text header.', { max: 60 }),
  ...Object.fromEntries(
    numbered(FIELDS, 1).map(number => [
      `field_${number}`,
      text(`The value of variable ${number} of the text; of named variables, of the one that stands there.`, {
        max: 1_024,
      }),
    ]),
  ),
  ...Object.fromEntries(
    numbered(BUTTONS, 0).map(index => [
      `button_${index}`,
      text(
        `What button ${index} carries: the end of its address, the code it copies, or the payload of a quick reply.`,
      ),
    ]),
  ),
};

export const sendTemplateRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/messages/template',
    document: SendTemplateDocument,
    async: true,
    body: sendingBody({
      without: ['name', 'category', 'header', 'body', 'body_by_name', 'buttons'],
      with: { template_name: TEMPLATE_NAME, language: LANGUAGE, ...FILES, ...VALUES },
    }),
    example: {
      phone: '+14155550123',
      template_name: 'order_confirmation',
      language: 'en_US',
      field_1: 'Ana',
      field_2: '1042',
    },
    answer: selected('message', {
      without: ['sent', ...UNSAID],
      with: {
        phone: nullable(text('The number without its +.', { example: '14155550123' })),
        template_name: TEMPLATE_NAME,
        language: LANGUAGE,
        ...Object.fromEntries(Object.entries({ ...LINKS, ...VALUES }).map(([name, shape]) => [name, optional(shape)])),
      },
    }),
    errors: [...SENDING_ERRORS, 'FEATURE_NOT_AVAILABLE'],
    plan: call => {
      const body = call.body();
      const sending = readSending(call, body);
      const template = body.requiredText('template_name', 'name');
      const language = body.requiredText('language', 'template_language');
      return {
        variables: { input: said({ ...sending.input, name: template, language, ...readValues(body) }) },
        names: { ...sending.names, ...TEMPLATE_NAMES, ...filesGiven(body) },
        respond: ({ message }) =>
          sending.answer(message, {
            template_name: template,
            language,
            message: message.message,
            ...echoOf(message.sent),
          }),
      };
    },
  }),
];

import { builder } from '../../schema/builder.ts';
import {
  BUTTON_TYPES,
  HEADER_FORMATS,
  type TemplateButton,
  type TemplateFooter,
  type TemplateHeader,
  type TemplateText,
  wordOf,
} from './template.ts';

export const HeaderFormat = builder.enumType('TemplateHeaderFormat', {
  description: 'What the header of a template is.',
  values: {
    TEXT: { description: 'A text, with at most one variable.' },
    IMAGE: { description: 'A picture, given by each send.' },
    VIDEO: { description: 'A video, given by each send.' },
    DOCUMENT: { description: 'A document, given by each send.' },
    LOCATION: { description: 'A place, given by each send.' },
    OTHER: { description: 'Another format of the network; see `Template.raw`.' },
  } as const,
});

export const ButtonType = builder.enumType('TemplateButtonType', {
  description: 'What a button of a template does.',
  values: {
    QUICK_REPLY: { description: 'Sends a reply.' },
    URL: {
      description: 'Opens a web page. Buttons of one-time codes are of this type too, as the network returns them.',
    },
    PHONE_NUMBER: { description: 'Calls a phone number.' },
    COPY_CODE: { description: 'Copies a coupon code.' },
    OTP: { description: 'Copies or fills in a one-time code.' },
    FLOW: { description: 'Opens a form (WhatsApp Flow).' },
    CATALOG: { description: 'Shows the catalog.' },
    MPM: { description: 'Shows several products.' },
    SPM: { description: 'Shows one product.' },
    VOICE_CALL: { description: 'Calls the business on WhatsApp.' },
    CALL_REQUEST: { description: 'Asks for permission to call.' },
    OTHER: { description: 'Another type of the network; see `Template.raw`.' },
  } as const,
});

/** @param word in upper case */
export const headerFormatOf = (word: string) => wordOf(HEADER_FORMATS, 'OTHER', word);
/** @param word in upper case */
export const buttonTypeOf = (word: string) => wordOf(BUTTON_TYPES, 'OTHER', word);

interface Parameter {
  readonly name: string;
  readonly example: string | null;
}

const ParameterType = builder.objectRef<Parameter>('TemplateParameter').implement({
  description: 'A variable of a template, for which a send must give a value.',
  fields: t => ({
    name: t.exposeString('name', {
      description: '`1`, `2`, … or, if `parameterFormat` is NAMED, a name such as `first_name`.',
    }),
    example: t.exposeString('example', {
      nullable: true,
      description: 'The sample value that was submitted for review; null if there is none.',
    }),
  }),
});

const parametersOf = ({ parameters, examples }: TemplateText): Parameter[] =>
  parameters.map(name => ({ name, example: examples.get(name) ?? null }));

export const Header = builder.objectRef<TemplateHeader>('TemplateHeader').implement({
  description: 'Header of a template.',
  fields: t => ({
    format: t.field({
      type: HeaderFormat,
      description: 'What the header is.',
      resolve: ({ format }) => headerFormatOf(format),
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Text of a header of format TEXT, with its variable; null for other formats.',
    }),
    parameters: t.field({ type: [ParameterType], description: 'Variables of the text.', resolve: parametersOf }),
  }),
});

export const Body = builder.objectRef<TemplateText>('TemplateBody').implement({
  description: 'Body text of a template.',
  fields: t => ({
    text: t.exposeString('text', { nullable: true, description: 'Text with its variables, for example `{{1}}`.' }),
    parameters: t.field({ type: [ParameterType], description: 'Variables of the text.', resolve: parametersOf }),
  }),
});

export const Footer = builder.objectRef<TemplateFooter>('TemplateFooter').implement({
  description: 'Footer of a template.',
  fields: t => ({
    text: t.exposeString('text', { nullable: true, description: 'Text of the footer; null if the network writes it.' }),
    codeExpirationMinutes: t.exposeInt('codeExpirationMinutes', {
      nullable: true,
      description: 'Lifetime in minutes that the footer states for a one-time code; null if it states none.',
    }),
  }),
});

export const Button = builder.objectRef<TemplateButton>('TemplateButton').implement({
  description: 'A button of a template.',
  fields: t => ({
    index: t.exposeInt('index', {
      description: 'Position of the button, starting at 0. A send refers to it by this number.',
    }),
    type: t.field({
      type: ButtonType,
      description: 'What the button does.',
      resolve: ({ type }) => buttonTypeOf(type),
    }),
    text: t.exposeString('text', { nullable: true, description: 'Label of the button.' }),
    url: t.exposeString('url', {
      nullable: true,
      description: 'URL that the button opens, with a variable only at its end; null for other types.',
    }),
    phoneNumber: t.exposeString('phoneNumber', {
      nullable: true,
      description: 'Phone number that the button calls; null for other types.',
    }),
    needsParameter: t.exposeBoolean('needsParameter', {
      description: 'Whether a send must give a value for this button.',
    }),
    example: t.exposeString('example', {
      nullable: true,
      description: 'The sample value that was submitted for review: a whole URL or a code; null if there is none.',
    }),
  }),
});

import type { TemplateCategory } from '../documents.generated.ts';
import type { TemplateView } from '../inbox/rendered-template.tsx';
import type { UserError } from '../ui/user-errors.tsx';

export const HEADER_KINDS = ['NONE', 'TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'] as const;
export type HeaderKind = (typeof HEADER_KINDS)[number];
export type FileKind = 'IMAGE' | 'VIDEO' | 'DOCUMENT';
/** As the network has them: types of files that a header shows. */
export const FILE_TYPES: Readonly<Record<FileKind, string>> = {
  IMAGE: 'image/jpeg,image/png',
  VIDEO: 'video/mp4,video/3gpp',
  DOCUMENT: 'application/pdf',
};
export const isFileKind = (kind: string): kind is FileKind => Object.hasOwn(FILE_TYPES, kind);

/** How many buttons of each type a template may have, of ten in all. Replies stand together, before the others. */
export const MAX_BUTTONS = 10;
export const MAX_OF = { QUICK_REPLY: 10, URL: 2, PHONE_NUMBER: 1, COPY_CODE: 1 } as const;
export type ButtonType = keyof typeof MAX_OF;
export const BUTTON_TYPES = Object.keys(MAX_OF) as readonly ButtonType[];

export interface ButtonDraft {
  readonly key: number;
  readonly type: ButtonType;
  readonly text: string;
  /** The address, the phone number, or the example of a code. */
  readonly value: string;
  /** Example value of `{{1}}` at the end of a URL. */
  readonly example: string;
}

export interface FileDraft {
  readonly name: string;
  /** Of the page's copy. */
  readonly url: string;
  /** 0 to 1. */
  readonly progress: number;
  /** Once it is uploaded. */
  readonly mediaId: string | undefined;
  readonly problem: string | undefined;
}

export interface TemplateDraft {
  readonly name: string;
  readonly language: string;
  readonly category: TemplateCategory;
  readonly headerKind: HeaderKind;
  readonly header: string;
  readonly headerExample: string;
  readonly file: FileDraft | undefined;
  readonly body: string;
  /** By the number of the variable. */
  readonly examples: Readonly<Record<string, string>>;
  readonly footer: string;
  readonly buttons: readonly ButtonDraft[];
}

export const EMPTY_DRAFT: TemplateDraft = {
  name: '',
  language: 'en_US',
  category: 'UTILITY',
  headerKind: 'NONE',
  header: '',
  headerExample: '',
  file: undefined,
  body: '',
  examples: {},
  footer: '',
  buttons: [],
};

export const VARIABLE = '{{1}}';

/** The numbers of the variables of a text, each once. */
export const variablesOf = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/\{\{(\d+)\}\}/g)].map(match => match[1] ?? '')),
];

/** A text with the examples for its variables, as far as they are given. */
const filled = (text: string, examples: Readonly<Record<string, string>>): string =>
  text.replace(/\{\{(\d+)\}\}/g, (whole, name: string) => examples[name] || whole);

/** With a new button of a type; replies stay before the others, because the network wants them together. */
export function withButton(buttons: readonly ButtonDraft[], type: ButtonType): readonly ButtonDraft[] {
  const key = Math.max(0, ...buttons.map(each => each.key)) + 1;
  const added: ButtonDraft = { key, type, text: '', value: '', example: '' };
  const replies = buttons.filter(each => each.type === 'QUICK_REPLY');
  const others = buttons.filter(each => each.type !== 'QUICK_REPLY');
  return type === 'QUICK_REPLY' ? [...replies, added, ...others] : [...replies, ...others, added];
}

function buttonOf({ type, text, value, example }: ButtonDraft) {
  switch (type) {
    case 'QUICK_REPLY':
      return { type, text };
    case 'URL':
      return { type, text, url: value, ...(value.includes(VARIABLE) && { example: [filled(value, { 1: example })] }) };
    case 'PHONE_NUMBER':
      return { type, text, phone_number: value };
    case 'COPY_CODE':
      return { type, example: value };
    default:
      return type satisfies never;
  }
}

function headerOf({ headerKind, header, headerExample, file }: TemplateDraft) {
  if (headerKind === 'NONE') return [];
  const example =
    headerKind === 'TEXT'
      ? variablesOf(header).length > 0 && { header_text: [headerExample] }
      : file?.mediaId !== undefined && { media_id: file.mediaId };
  return [
    { type: 'HEADER', format: headerKind, ...(headerKind === 'TEXT' && { text: header }), ...(example && { example }) },
  ];
}

/** The components in the network's format. */
export function componentsOf(draft: TemplateDraft) {
  const variables = variablesOf(draft.body);
  return [
    ...headerOf(draft),
    {
      type: 'BODY',
      text: draft.body,
      ...(variables.length > 0 && { example: { body_text: [variables.map(name => draft.examples[name] ?? '')] } }),
    },
    ...(draft.footer ? [{ type: 'FOOTER', text: draft.footer }] : []),
    ...(draft.buttons.length > 0 ? [{ type: 'BUTTONS', buttons: draft.buttons.map(buttonOf) }] : []),
  ];
}

/** Rendered draft, with examples in place of variables. */
export function viewOf(draft: TemplateDraft): TemplateView {
  const { headerKind, header, headerExample, file } = draft;
  return {
    header:
      headerKind === 'NONE'
        ? null
        : {
            format: headerKind,
            text: headerKind === 'TEXT' ? filled(header, { 1: headerExample }) || '…' : null,
            link: null,
            filename: file?.name ?? null,
            fileUrl: file?.url,
          },
    body: filled(draft.body, draft.examples) || '…',
    footer: draft.footer || null,
    buttons: draft.buttons.map(({ key, type, text }) => ({
      key,
      type,
      text: text || (type === 'COPY_CODE' ? null : '…'),
    })),
  };
}

/** Where a message of the API belongs in the form: `['components', '2', 'buttons', '0', 'url']` is `BUTTONS.0.url`. */
export function placeOf({ path = [] }: UserError, draft: TemplateDraft): string {
  const [first = '', index = '', ...rest] = path;
  if (first !== 'components') return path.join('.');
  const type = componentsOf(draft)[Number(index)]?.type ?? first;
  return [type, ...rest.filter(part => part !== 'buttons')].join('.');
}

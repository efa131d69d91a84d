import type { TemplateInput } from '../documents.generated.ts';
import type { Template } from '../templates/use-templates.ts';

/** A value that a template asks for; `key` is its place in the form. */
export interface TemplateField {
  readonly key: string;
  readonly part: 'header' | 'body' | 'button';
  readonly name: string;
  readonly example: string;
}

/** Stands for the link of a header's file until there is one: the gateway asks for a link. */
const NO_LINK = 'https://example.com/file';

/** The fields of the form for a template, in the order in which the message shows them. */
export function fieldsOf({ header, body, buttons }: Template): TemplateField[] {
  const headers: TemplateField[] =
    header?.format === 'TEXT'
      ? header.parameters.map(({ name, example }) => ({
          key: `header.${name}`,
          part: 'header',
          name,
          example: example ?? '',
        }))
      : header?.format === 'IMAGE' || header?.format === 'VIDEO' || header?.format === 'DOCUMENT'
        ? [{ key: 'header.link', part: 'header', name: header.format.toLowerCase(), example: 'https://…' }]
        : [];
  return [
    ...headers,
    ...(body?.parameters ?? []).map(({ name, example }) => ({
      key: `body.${name}`,
      part: 'body' as const,
      name,
      example: example ?? '',
    })),
    ...buttons
      .filter(({ needsParameter }) => needsParameter)
      .map(({ index, text, example }) => ({
        key: `button.${index}`,
        part: 'button' as const,
        name: text ?? String(index),
        example: example ?? '',
      })),
  ];
}

/** The input of the API for the values of the form. */
export function templateInputOf(template: Template, values: Readonly<Record<string, string>>): TemplateInput {
  const { name, language, header, body, buttons, parameterFormat } = template;
  const parameters = body?.parameters ?? [];
  const value = (key: string): string => values[key] ?? '';
  const headerText = header?.parameters[0] && value(`header.${header.parameters[0].name}`);
  const mediaId = value('header.mediaId');
  const file = mediaId === '' ? { link: value('header.link') } : { mediaId };
  return {
    name,
    language,
    ...(parameters.length > 0 &&
      (parameterFormat === 'NAMED'
        ? { bodyByName: parameters.map(each => ({ name: each.name, value: value(`body.${each.name}`) })) }
        : { body: parameters.map(each => value(`body.${each.name}`)) })),
    ...(header?.format === 'TEXT' && headerText && { header: { text: headerText } }),
    ...(header?.format === 'IMAGE' && { header: { image: file } }),
    ...(header?.format === 'VIDEO' && { header: { video: file } }),
    ...(header?.format === 'DOCUMENT' && { header: { document: file } }),
    ...(buttons.some(({ needsParameter }) => needsParameter) && {
      buttons: buttons
        .filter(({ needsParameter }) => needsParameter)
        .map(({ index }) => ({ index, value: value(`button.${index}`) })),
    }),
  };
}

/** The input of the preview, which shows the example where nothing is typed yet. The link of a file that is not chosen yet is never opened. */
export function previewInputOf(template: Template, values: Readonly<Record<string, string>>): TemplateInput {
  const shown = fieldsOf(template).map(({ key, example }) => [
    key,
    values[key] || (key === 'header.link' ? NO_LINK : example || '…'),
  ]);
  return templateInputOf(template, { ...values, ...Object.fromEntries(shown) });
}

/** The rendered preview without the link that stands for a file. */
export const withoutPlaceholder = <View extends { readonly header: { readonly link: string | null } | null }>(
  rendered: View,
): View => (rendered.header?.link === NO_LINK ? { ...rendered, header: { ...rendered.header, link: null } } : rendered);

import { encodeGlobalId } from '../../../core/global-ids.ts';
import { oneOf } from '../../../schema/one-of.ts';
import type { Values } from '../../templates/sending/parameters.ts';
import type { ContentFields } from '../send/content-schema.ts';
import type { InteractiveText } from './interactive/interactive.ts';
import { draftFileOf } from './media/file.ts';
import type { Choice, ContentShape, InteractiveFields } from './message-content.ts';

/** `ContentFields`, or the reply of a bot. */
type DraftFields = Omit<ContentFields, 'template'> & {
  readonly template?: (Values & { readonly name: string; readonly language: string }) | null | undefined;
};

/** Content that is stored to be sent later, with unfilled merge fields, as messages show theirs. */
export function draftOf(tenantId: number, fields: DraftFields): ContentShape {
  const { field, value } = oneOf(fields, 'content');
  switch (field) {
    case 'text':
      return { kind: 'TextContent', body: value.body, previewUrl: value.previewUrl ?? false };
    case 'media':
      return {
        kind: 'MediaContent',
        file: draftFileOf(value.kind, value.file, value.filename),
        caption: value.caption ?? null,
      };
    case 'interactive':
      return { kind: 'InteractiveContent', ...interactiveOf(value) };
    case 'location': {
      const { latitude, longitude, name = null, address = null } = value;
      return { kind: 'LocationContent', latitude, longitude, name, address };
    }
    case 'contacts': {
      const cards = value.map(({ name, phones, emails, company }) => ({
        name,
        phones,
        emails: emails ?? [],
        company: company ?? null,
      }));
      return { kind: 'ContactsContent', cards };
    }
    case 'template': {
      const { name, language, header, body, bodyByName, buttons } = value;
      return {
        kind: 'TemplateContent',
        templateName: name,
        language,
        values: withGlobalId(tenantId, { header, body, bodyByName, buttons }),
        rendered: null,
        sentFile: null,
      };
    }
    case 'cannedReplyId':
      throw new Error('Stored content names no other content.');
  }
}

const interactiveOf = ({ body, header, footer, buttons, list, ctaUrl }: InteractiveText): InteractiveFields => ({
  body,
  header: header ?? null,
  footer: footer ?? null,
  buttons: (buttons ?? []).map(choiceOf),
  list: list
    ? {
        button: list.button,
        sections: list.sections.map(({ title, rows }) => ({ title: title ?? null, rows: rows.map(choiceOf) })),
      }
    : null,
  ctaUrl: ctaUrl ?? null,
});

const choiceOf = (choice: {
  readonly id: string;
  readonly title: string;
  readonly description?: string | null | undefined;
}): Choice => ({ replyId: choice.id, title: choice.title, description: choice.description ?? null });

/** The upload of a header is stored by its bare id. */
function withGlobalId(tenantId: number, { header, ...values }: Values): Values {
  if (!header) return values;
  const named = <File extends { readonly mediaId?: string | null | undefined }>(file: File | null | undefined) =>
    file?.mediaId == null ? file : { ...file, mediaId: encodeGlobalId('Media', tenantId, file.mediaId) };
  const { image, video, document, ...others } = header;
  return {
    ...values,
    header: { ...others, image: named(image), video: named(video), document: named(document) },
  };
}

import { oneOf } from '../../../schema/one-of.ts';
import { choicePath, withChoices } from '../content/interactive/interactive.ts';
import { mediaIdOf } from '../content/media/file.ts';
import type { ContentFields, GivenContent } from './content-schema.ts';

/** The media of a content, with its file as `mediaContent` takes it. */
export function mediaFields(tenantId: number, { file, ...media }: NonNullable<ContentFields['media']>) {
  const from = oneOf(file, 'file');
  return {
    ...media,
    ...(from.field === 'link' ? { link: from.value } : { mediaId: mediaIdOf(tenantId, from.value) }),
  };
}

/** A content as it is stored and sent. */
export const contentFieldsOf = ({ interactive, ...content }: GivenContent): ContentFields => ({
  ...content,
  ...(interactive !== undefined && { interactive: interactive && withChoices(interactive) }),
});

/** Names of content fields that differ from those of the input. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  text: { text: 'body' },
  media: { link: 'file.link', mediaId: 'file.mediaId' },
};

/** The path of a content field below the input. Faults of a canned reply are those of its id. */
export function contentPath(content: keyof ContentFields, field: string): string {
  if (content === 'cannedReplyId') return 'content.cannedReplyId';
  const [first = '', ...others] = (content === 'interactive' ? choicePath(field) : field).split('.');
  return ['content', content, RENAMED[content]?.[first] ?? first, ...others].filter(name => name !== '').join('.');
}

import { builder } from '../../../../schema/builder.ts';
import { MERGED_IN_SEND } from '../../send/merge-fields.ts';
import { MAX_FILENAME } from './file.ts';
import { MediaKind } from './message-media-schema.ts';
import { MAX_CAPTION, MAX_LINK } from './send-media.ts';

export const FileInput = builder.inputType('FileInput', {
  description: 'A file to send.',
  isOneOf: true,
  fields: t => ({
    link: t.string({
      description: `An http or https URL of at most ${MAX_LINK} characters from which the network downloads the file. If the download fails, the message fails with code 131053.`,
    }),
    mediaId: t.id({
      description:
        'Global id or databaseId of an upload (createMediaUpload). Its channel is the default channel of the message.',
    }),
  }),
});

export const MediaInput = builder.inputType('MediaInput', {
  description: 'An image, a video, audio, a document or a sticker.',
  fields: t => ({
    kind: t.field({ type: MediaKind, required: true, description: 'Kind of media that the file is sent as.' }),
    file: t.field({ type: FileInput, required: true, description: 'The file to send.' }),
    caption: t.string({
      description: `Caption, not allowed for audio and stickers; at most ${MAX_CAPTION} characters after merging. ${MERGED_IN_SEND}`,
    }),
    filename: t.string({
      description: `File name that the recipient sees, for documents; at most ${MAX_FILENAME} characters. Default: the name of the upload.`,
    }),
  }),
});

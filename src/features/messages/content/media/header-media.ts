import { tenantOf } from '../../../../core/principal.ts';
import type { Context } from '../../../../schema/context.ts';
import { FILE_KINDS, type Values } from '../../../templates/sending/parameters.ts';
import { fileStateLoader } from '../../loaders.ts';
import { draftFileOf, type FileContent, type MessageFile, mediaIdOf } from './file.ts';

/**
 * The file in the header of a template, sent or not. An upload is shown as such: it stays for as long as the network keeps it, whatever
 * becomes of the message.
 * @returns null for a header without a file, and for an upload that is gone
 */
export async function headerMediaOf(
  { values, sentFile }: { readonly values: Values; readonly sentFile: MessageFile | null },
  context: Context,
): Promise<FileContent | null> {
  if (!sentFile) return unsentFileOf(values, tenantOf(context));
  const { kind, networkId, message } = sentFile;
  if (networkId === null) return sentFile;
  const state = await fileStateLoader(context).load(`${message.id} ${networkId}`);
  return state?.upload_id == null ? null : draftFileOf(kind, { mediaId: state.upload_id });
}

function unsentFileOf({ header }: Values, tenantId: number): FileContent | null {
  const kind = FILE_KINDS.find(name => header?.[name] != null);
  const file = kind && header?.[kind];
  if (!kind || !file) return null;
  if (file.mediaId != null) return draftFileOf(kind, { mediaId: mediaIdOf(tenantId, file.mediaId) });
  return file.link == null ? null : draftFileOf(kind, { link: file.link });
}

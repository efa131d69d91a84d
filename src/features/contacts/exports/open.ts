import { CodedError, notFound } from '../../../core/errors.ts';
import { FileStoreError } from '../../../platform/files/file-store.ts';
import type { Resources } from '../../../schema/context.ts';
import type { RemoteFile } from '../../messages/content/media/open.ts';
import { openKept } from '../../messages/content/media/open-kept.ts';
import { filenameOf, MIME_TYPES } from './export.ts';
import { findExportFile } from './store.ts';

/** Locates the file of an export. @throws NOT_FOUND, also once it has expired */
export async function openExport(
  { db, files }: Pick<Resources, 'db' | 'files'>,
  tenantId: number,
  id: string,
): Promise<RemoteFile> {
  const found = await findExportFile(db.read, tenantId, id);
  if (!found || found.storage_key === null || found.size === null) throw notFound('Export');
  const { storage_key: key, size, sha256, file_type: fileType } = found;
  return {
    mimeType: MIME_TYPES[fileType],
    filename: filenameOf(found),
    sha256: sha256?.toString('hex'),
    size,
    async open(range) {
      const file = await openKept(files, key, size, range).catch((error: unknown) => {
        if (!(error instanceof FileStoreError)) throw error;
        throw new CodedError('SERVICE_UNAVAILABLE', 'The file store does not respond. Try again.', {
          details: { retry_after: 5 },
        });
      });
      if (!file) throw notFound('Export');
      return file;
    },
  };
}

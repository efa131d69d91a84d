import type { WritePiece } from '../../../platform/files/written-stream.ts';
import type { Resources } from '../../../schema/context.ts';
import { type ExportedRecipients, recipientsPage } from '../../campaigns/recipients/export.ts';
import { messagesPage } from '../../messages/export.ts';
import { costsPage } from '../../messages/pricing/export.ts';
import { exportContact } from '../erasure/export.ts';
import { csvLine } from './csv.ts';
import type { ExportJob, FileType } from './export.ts';
import { type ExportedPage, readContacts } from './pages.sql.ts';
import { insertPeople } from './store.ts';

/** Rows that one statement examines. Reading and writing as many holds the event loop for about 10 ms. */
const PAGE = 500;

type WriteResources = Pick<Resources, 'db' | 'clock' | 'files' | 'prices'>;

/**
 * Writes the file of an export, page by page, in the order of ids, and records whose data it contains. Takes no locks: a
 * concurrent change may or may not be included.
 * @returns the number of rows @throws NOT_FOUND if the person does not exist any more
 */
export async function writeExport(
  resources: WriteResources,
  tenantId: number,
  job: ExportJob,
  write: WritePiece,
): Promise<number> {
  if (job.contact_id !== null) {
    await insertPeople(resources.db.write, tenantId, job.id, 0, [job.contact_id]);
    await exportContact(resources, tenantId, job.contact_id, job.author, write);
    return 1;
  }
  let part = 0;
  return writeRows(pagesOf(resources, tenantId, job), job.file_type, write, async contactIds => {
    if (contactIds.length > 0) await insertPeople(resources.db.write, tenantId, job.id, part, [...new Set(contactIds)]);
    part += 1;
  });
}

/** Reads the page after an id. */
export type ReadPage = (after: string | null, limit: number) => Promise<ExportedPage>;

/**
 * Writes all pages of a list.
 * @param note is given the people of each page before it is written
 * @returns the number of rows
 */
export async function writeRows(
  readPage: ReadPage,
  fileType: FileType,
  write: WritePiece,
  note: (contactIds: readonly number[]) => Promise<void> = async () => undefined,
): Promise<number> {
  const rows = formatOf(fileType, write);
  let count = 0;
  for (let after: string | null = null; ; ) {
    const page: ExportedPage = await readPage(after, PAGE);
    await note(page.contactIds);
    await rows.write(page);
    count += page.rows.length;
    after = page.last;
    if (after === null) break;
  }
  await rows.end();
  return count;
}

function pagesOf({ db: { write: db }, prices }: WriteResources, tenantId: number, job: ExportJob): ReadPage {
  const filter = job.filter ?? {};
  switch (job.resource) {
    case 'costs':
      return (after, limit) => costsPage(prices)(db, tenantId, filter, after, limit);
    case 'campaign_recipients':
      // Stored by `parseRecipients`.
      return (after, limit) => recipientsPage(db, tenantId, filter as unknown as ExportedRecipients, after, limit);
    case 'messages':
      return (after, limit) => messagesPage(db, tenantId, filter, after, limit);
    case 'contacts':
    case 'contact':
      return (after, limit) => readContacts(db, tenantId, filter, after, limit);
  }
}

interface Format {
  write(page: ExportedPage): Promise<void>;
  end(): Promise<void>;
}

/** CSV with a header, or a JSON array with a line for each row. */
function formatOf(fileType: ExportJob['file_type'], write: WritePiece): Format {
  let hasRows = false;
  let hasHeader = false;
  if (fileType === 'csv')
    return {
      async write({ columns, rows }) {
        const header = hasHeader ? '' : csvLine(columns);
        hasHeader = true;
        await write(header + rows.map(row => csvLine(columns.map(column => row[column]))).join(''));
      },
      end: async () => undefined,
    };
  return {
    async write({ rows }) {
      if (rows.length === 0) return;
      await write((hasRows ? ',\n' : '[\n') + rows.map(row => JSON.stringify(row)).join(',\n'));
      hasRows = true;
    },
    end: () => write(hasRows ? '\n]\n' : '[]\n'),
  };
}

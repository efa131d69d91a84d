import type { Author } from '../../../core/author.ts';
import { notFound } from '../../../core/errors.ts';
import type { WritePiece } from '../../../platform/files/written-stream.ts';
import { phoneKey } from '../../../platform/phone.ts';
import type { Resources } from '../../../schema/context.ts';
import { peopleOf } from '../../integrations/intake/people.ts';
import { messagesOf } from '../../messages/export.ts';
import { filesOf, writeFileAsJson } from '../../messages/export-files.ts';
import { record } from '../../tenancy/audit/record.ts';
import { findContacts } from '../store.ts';
import { getIdentified, type IdentifiedContact, listHolders } from './erasure.sql.ts';
import { type ExportedPerson, type ExportedRow, SECTIONS, type ShopKey, THREAD_SECTIONS } from './export.sql.ts';
import { heldPeriods, type Period, type SharedNumber, sharedNumbersOf } from './shared-number.ts';

/** Rows per statement. */
const PAGE = 500;

export interface ExportResult {
  readonly contactId: number;
  /** Rows by section. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Writes all data about a person as one JSON document, page by page, with an audit entry. Nothing is locked, so a concurrent change
 * may or may not be included.
 *
 * @param write takes a piece of the document; the next one waits for it
 * @throws NOT_FOUND
 */
export async function exportContact(
  { db, clock, files }: Pick<Resources, 'db' | 'clock' | 'files'>,
  tenantId: number,
  id: number,
  author: Author,
  write: WritePiece,
): Promise<ExportResult> {
  const found = (await findContacts(db.write, tenantId, [id])).get(id);
  const [contact] = found ? await getIdentified(db.write, tenantId, [found.id]) : [];
  if (!contact) throw notFound('Contact');
  const holders = await listHolders(db.write, tenantId, [contact.id]);
  const person = personOf(contact, sharedNumbersOf(contact.id, holders));
  const counts: Record<string, number> = {};
  const {
    numbers: _numbers,
    user_ids: _userIds,
    usernames: _names,
    emails: _emails,
    former_ids: _ids,
    ...fields
  } = contact;
  const head = {
    exported_at: new Date(clock.now()).toISOString(),
    contact: { ...fields, former_ids: contact.former_ids },
  };
  await write(JSON.stringify(head, null, 2).replace(/\n}$/, ''));
  const messages = {
    name: 'messages',
    page: (...[store, tenant, { contactId }, after]: PageArguments) =>
      messagesOf(store, tenant, contactId, after, PAGE),
  };
  for (const section of [...SECTIONS, ...THREAD_SECTIONS, messages]) {
    await write(`,\n  ${JSON.stringify(section.name)}: [`);
    let count = 0;
    for (let after: string | null = null; ; ) {
      const rows: readonly ExportedRow[] = await section.page(db.write, tenantId, person, after, PAGE);
      await write(rows.map((row, index) => `${count + index > 0 ? ',' : ''}\n    ${JSON.stringify(row)}`).join(''));
      count += rows.length;
      if (rows.length < PAGE) break;
      after = String(rows.at(-1)?.['id']);
    }
    counts[section.name] = count;
    await write(count > 0 ? '\n  ]' : ']');
  }
  counts['files'] = await writeFiles({ db, files }, tenantId, contact.id, write);
  await write('\n}\n');
  await db.transaction(trx =>
    record(trx, tenantId, {
      author,
      action: 'contact.exported',
      subject: `contact:${contact.id}`,
      details: { counts },
    }),
  );
  return { contactId: contact.id, counts };
}

/** Kept files with their content. @returns their number */
async function writeFiles(
  { db, files }: Pick<Resources, 'db' | 'files'>,
  tenantId: number,
  contactId: number,
  write: WritePiece,
): Promise<number> {
  await write(',\n  "files": [');
  let count = 0;
  for (let after: string | null = null; ; ) {
    const page = await filesOf(db.write, tenantId, contactId, after, PAGE);
    for (const file of page) {
      await write(`${count > 0 ? ',' : ''}\n    `);
      await writeFileAsJson(files, file, write);
      count += 1;
    }
    if (page.length < PAGE) break;
    after = page.at(-1)?.id ?? null;
  }
  await write(count > 0 ? '\n  ]' : ']');
  return count;
}

type PageArguments = Parameters<(typeof SECTIONS)[number]['page']>;

function personOf(
  { id, numbers, emails, former_ids: formerIds }: IdentifiedContact,
  shared: readonly SharedNumber[],
): ExportedPerson {
  const contactIds = [id, ...formerIds];
  const phoneKeys = numbers.map(phoneKey);
  const isShared = new Set(shared.map(({ identity }) => identity));
  return {
    contactId: id,
    contactIds,
    phoneKeys,
    shopKeys: [
      ...peopleOf([
        ...contactIds.map(known => ({ id: known, phone: null, email: null })),
        ...phoneKeys.filter(key => !isShared.has(key)).map(phone => ({ id, phone, email: null })),
        ...emails.map(email => ({ id, phone: null, email })),
      ]).map(person => shopKey(person, ALWAYS)),
      ...shared.flatMap(number =>
        heldPeriods(number).flatMap(period =>
          peopleOf([{ id, phone: number.identity, email: null }]).map(person => shopKey(person, period)),
        ),
      ),
    ],
  };
}

const ALWAYS: Period = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };

const shopKey = (person: string, { fromMs, untilMs }: Period): ShopKey => ({
  person,
  since: Number.isFinite(fromMs) ? new Date(fromMs).toISOString() : '-infinity',
  until: Number.isFinite(untilMs) ? new Date(untilMs).toISOString() : 'infinity',
});

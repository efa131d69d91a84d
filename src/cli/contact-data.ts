import { Command, Option } from 'commander';
import { openFiles } from '../app/open-files.ts';
import { loadConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import { eraseContacts } from '../features/contacts/erasure/erase.ts';
import { exportContact } from '../features/contacts/erasure/export.ts';
import { type ErasureReason, publicReceipt, REASONS } from '../features/contacts/erasure/receipt.ts';
import { findContactsByIdentity } from '../features/contacts/erasure/store.ts';
import { findContacts } from '../features/contacts/store.ts';
import { COMMAND_LINE } from '../features/tenancy/audit/author.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { parsePhone } from '../platform/phone.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, POLLED, secretBoxOf, withDatabase } from './database.ts';
import { interruptible } from './interrupted.ts';
import { writeOutput } from './output-file.ts';
import { print } from './print.ts';
import { createProgress } from './progress.ts';

const CONTACT_ARGUMENT = 'contact id, or phone number in international format, such as +4915123456789';

/** @throws UserError if there is no such contact */
async function requireContactId({ write }: Database, tenantId: number, slug: string, text: string): Promise<number> {
  const phone = text.startsWith('+') ? parsePhone(text) : undefined;
  const id = phone
    ? (await findContactsByIdentity(write, tenantId, [phone.key])).get(phone.key)
    : /^\d{1,15}$/.test(text)
      ? (await findContacts(write, tenantId, [Number(text)])).get(Number(text))?.id
      : undefined;
  if (id === undefined) throw new UserError(`The tenant ${slug} has no contact ${text}. Give ${CONTACT_ARGUMENT}.`);
  return id;
}

export function exportCommand(): Command {
  return new Command('export')
    .description('export all data held about a person to one JSON file')
    .argument('<tenant>', 'slug of the tenant')
    .argument('<contact>', CONTACT_ARGUMENT)
    .requiredOption('--out <file>', 'output file, or - for standard output')
    .option('--json', 'print JSON: the number of rows of each kind', false)
    .addHelpText(
      'after',
      `
The file contains the contact with its identities, consents, groups, conversations, messages, one-time passwords (without codes),
orders, bot replies, events, webhook deliveries and the files of its messages (as base64), which are read from the store that
PARLEY_MEDIA_DIR or PARLEY_MEDIA_S3_BUCKET names. The export is recorded in the audit log.`,
    )
    .action(async (slug: string, idOrPhone: string, { out, json }: { out: string; json: boolean }) => {
      const config = loadConfig();
      const result = await withDatabase(config, async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, slug);
        const id = await requireContactId(db, tenantId, slug, idOrPhone);
        const files = await openFiles(config);
        const progress = createProgress('Exporting');
        const exported = await writeOutput(out, write =>
          exportContact({ db, clock: systemClock, files }, tenantId, id, COMMAND_LINE, async piece => {
            // `exportContact` indents each row by four spaces on a line of its own.
            progress.add(piece.split('\n    {').length - 1);
            await write(piece);
          }),
        );
        await files.close();
        progress.end();
        return exported;
      });
      if (out === '-') return;
      if (json) return print([{ contact: result.contactId, file: out, ...result.counts }], true);
      const rows = Object.entries(result.counts).map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`);
      process.stdout.write(`Contact ${result.contactId} written to ${out}: ${rows.join(', ')}.\n`);
    });
}

export function eraseCommand(): Command {
  return new Command('erase')
    .description('erase a person from all tables, and print the receipt as JSON')
    .argument('<tenant>', 'slug of the tenant')
    .argument('<contact>', CONTACT_ARGUMENT)
    .addOption(
      new Option('--reason <reason>', 'legal reason, stored in the receipt').choices(REASONS).makeOptionMandatory(),
    )
    .option('--json', 'print JSON (the receipt is always JSON)', false)
    .addHelpText(
      'after',
      `
Contact, conversations, messages and one-time passwords are deleted, the event log and raw webhooks are blanked, queued messages and
webhook deliveries are cancelled. This cannot be undone: export data that you have to keep first. An opt-out survives as a keyed digest.
docs/privacy.md lists what is kept and why. A running gateway completes an interrupted erasure.`,
    )
    .action(async (slug: string, idOrPhone: string, { reason }: { reason: ErasureReason }) => {
      const config = loadConfig();
      await changeDatabase(config, async db => {
        const secrets = await secretBoxOf(config, db);
        const { tenant_id: tenantId } = await requireTenant(db.read, slug);
        const id = await requireContactId(db, tenantId, slug, idOrPhone);
        const progress = createProgress('Erasing');
        const resources = {
          db,
          secrets,
          clock: systemClock,
          log: createLog('silent'),
          ...POLLED,
        };
        const request = { contactIds: [id], reason, author: COMMAND_LINE };
        const { receipts } = await interruptible(
          () =>
            'a running gateway completes the erasure within minutes, if it had begun: the contact is then gone already.',
          () => eraseContacts(resources, tenantId, request, rows => progress.add(rows)),
        );
        progress.end();
        const [receipt] = receipts;
        if (!receipt) throw new UserError(`The contact ${idOrPhone} was just erased by another process.`);
        process.stdout.write(`${JSON.stringify(publicReceipt(receipt), null, 2)}\n`);
      });
    });
}

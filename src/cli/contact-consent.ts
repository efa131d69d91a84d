import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { CONSENT_CSV_COLUMNS, type ConsentFault, parseConsent } from '../features/contacts/consent/import.ts';
import { recordConsent } from '../features/contacts/consent/record.ts';
import { COMMAND_LINE } from '../features/tenancy/audit/author.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { systemClock } from '../platform/clock.ts';
import { UserError } from '../platform/user-error.ts';
import { openCsv } from './csv-file.ts';
import { changeDatabase } from './database.ts';
import { interruptible } from './interrupted.ts';
import { print, printFirst } from './print.ts';
import { createProgress } from './progress.ts';

interface Options {
  readonly dryRun: boolean;
  readonly skipFaulty: boolean;
  readonly json: boolean;
}

const SHOWN_FAULTS = 20;

async function run(slug: string, file: string, { dryRun, skipFaulty, json }: Options): Promise<void> {
  const rowsOf = await openCsv(file);
  const result = await changeDatabase(loadConfig(), async db => {
    const { tenant_id: tenantId } = await requireTenant(db.read, slug);
    const nowMs = systemClock.now();
    const parts = () => parseConsent(db, tenantId, rowsOf(), COMMAND_LINE, nowMs);
    // The file is read twice, because it may be larger than the memory, and a fault at its end refuses it whole.
    let importable = 0;
    let imported = 0;
    const faults: ConsentFault[] = [];
    for await (const part of parts()) {
      importable += part.entries.length;
      faults.push(...part.faults);
    }
    const faulty = new Set(faults.map(fault => fault.line)).size;
    const isWritten = !dryRun && (faults.length === 0 || skipFaulty);
    if (!isWritten) return { imported, importable, faulty, faults };
    const progress = createProgress('Importing', { total: importable });
    const leave = (): string =>
      `${imported} of ${importable} entries were imported. Import the file again: those are not stored twice.`;
    const write = async (): Promise<void> => {
      // Entries that are stored already are not stored again: an interrupted import can be repeated.
      for await (const { entries } of parts()) {
        await db.transaction(trx => recordConsent(trx, tenantId, entries));
        imported += entries.length;
        progress.add(entries.length);
      }
    };
    await interruptible(leave, write).finally(progress.end);
    return { imported, importable, faulty, faults };
  });
  const { faults, ...counts } = result;
  if (json) print([result], true);
  else {
    printFirst(faults, SHOWN_FAULTS);
    print([counts], false);
  }
  if (faults.length > 0 && !skipFaulty && !dryRun)
    throw new UserError('Nothing was imported. Correct the rows, or import the others with --skip-faulty.');
}

export const importConsentCommand = (): Command =>
  new Command('import-consent')
    .description('import consent with its evidence from a CSV file; nothing is written if a row has a fault')
    .argument('<tenant>', 'slug of the tenant')
    .argument('<file>', `CSV file with the columns ${CONSENT_CSV_COLUMNS.join(', ')}`)
    .option('--dry-run', 'check the file, and write nothing', false)
    .option('--skip-faulty', 'import the rows that have no fault', false)
    .option('--json', 'print JSON, with all faults', false)
    .addHelpText(
      'after',
      `
phone is in international format and belongs to a contact; category is all, marketing or utility; state is opted_in or opted_out;
evidence says where the consent is recorded; occurred_at (ISO 8601) may be left out: it is then the time of the import. The same row
is stored once, however often it is imported; without occurred_at, it is not the same with other evidence only.`,
    )
    .action(run);

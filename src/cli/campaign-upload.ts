import { basename, extname } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../config.ts';
import { tenantOf } from '../core/principal.ts';
import { type ListError, MAPPED, MAX_LIST, type RecipientListRow } from '../features/campaigns/lists/list-row.ts';
import type { MappingInput } from '../features/campaigns/lists/parse-file.ts';
import { type ListPreview, previewList } from '../features/campaigns/lists/preview.ts';
import { getErrors } from '../features/campaigns/lists/store.ts';
import { addRows, createList } from '../features/campaigns/lists/upload.ts';
import { UserError } from '../platform/user-error.ts';
import type { Context } from '../schema/context.ts';
import { contextOf } from './campaign-context.ts';
import { openCsv } from './csv-file.ts';
import { changeDatabase, secretBoxOf } from './database.ts';
import { interruptible } from './interrupted.ts';
import { print, printFirst } from './print.ts';
import { createProgress } from './progress.ts';

interface Options {
  readonly name?: string;
  readonly map: Partial<MappingInput>;
  readonly dryRun: boolean;
  readonly json: boolean;
}

interface Outcome {
  readonly counts: Readonly<Record<string, string | number>>;
  readonly errors: readonly ListError[];
  /** Values by column. */
  readonly samples: readonly Readonly<Record<string, string>>[];
}

const SHOWN_ERRORS = 20;
const FIELDS = ['phone', ...MAPPED];

/** Adds one `field=column` to a mapping. */
function mapped(text: string, before: Partial<MappingInput>): Partial<MappingInput> {
  const [field = '', ...column] = text.split('=');
  if (!FIELDS.includes(field) || column.length === 0)
    throw new InvalidArgumentError(`Must be field=column, with a field of ${FIELDS.join(', ')}.`);
  return { ...before, [field]: column.join('=') };
}

const lineOf = (cells: readonly string[]): string => cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',');

/** A file in parts of at most the size of one upload, each with the line of column names. */
interface Parts {
  readonly count: number;
  readonly read: () => AsyncGenerator<string>;
}

/** Reads the file once before anything is stored: a fault at its end refuses it whole. It may be larger than the memory. */
async function partsOf(file: string): Promise<Parts> {
  const rowsOf = await openCsv(file);
  let lines = 0;
  for await (const _row of rowsOf()) lines += 1;
  const rows = Math.max(0, lines - 1);
  if (rows > MAX_LIST.rows)
    throw new UserError(`${file} has ${rows} rows. A list may have at most ${MAX_LIST.rows}: make two files.`);
  return {
    count: Math.max(1, Math.ceil(rows / MAX_LIST.upload)),
    async *read() {
      let header: string | undefined;
      let part: string[] = [];
      for await (const { cells } of rowsOf()) {
        if (header === undefined) header = lineOf(cells);
        else part.push(lineOf(cells));
        if (part.length < MAX_LIST.upload) continue;
        yield [header, ...part].join('\n');
        part = [];
      }
      if (part.length > 0 || rows === 0) yield [header ?? '', ...part].join('\n');
    },
  };
}

async function check(context: Context, parts: Parts, mapping: MappingInput): Promise<Outcome> {
  const previews: ListPreview[] = [];
  for await (const csv of parts.read()) previews.push(await previewList(context, { csv, mapping }));
  const sum = (of: 'rows' | 'newContacts' | 'duplicates' | 'errorCount'): number =>
    previews.reduce((total, preview) => total + preview[of], 0);
  return {
    counts: {
      rows: sum('rows'),
      new_contacts: sum('newContacts'),
      duplicates: sum('duplicates'),
      errors: sum('errorCount'),
    },
    errors: previews.flatMap(({ errors }, place) =>
      errors.map(({ row_number, message }) => ({ row_number: row_number + place * MAX_LIST.upload, message })),
    ),
    samples: (previews[0]?.samples ?? []).map(({ values }) =>
      Object.fromEntries((previews[0]?.columns ?? []).map((name, place) => [name, values[place] ?? ''])),
    ),
  };
}

/** A list of several parts is hidden until the last one is stored: nobody starts a campaign with the part that an interruption left. */
async function store(context: Context, parts: Parts, mapping: MappingInput, name: string): Promise<Outcome> {
  const progress = createProgress('Uploading', { unit: 'rows' });
  try {
    let list: RecipientListRow | undefined;
    let place = 0;
    for await (const csv of parts.read()) {
      const before: number = list?.row_count ?? 0;
      place += 1;
      const isComplete = place === parts.count;
      list = list
        ? await addRows(context, { id: list.id, csv, isComplete })
        : await createList(context, { name, csv, mapping, isComplete });
      progress.add(list.row_count - before);
    }
    if (!list) throw new Error('A file has at least one part.');
    const tenantId = tenantOf(context);
    const errors = await getErrors(context.db.write, tenantId, list.id);
    return {
      counts: { list: list.id, name: list.name, rows: list.row_count, errors: list.error_count },
      errors,
      samples: [],
    };
  } finally {
    progress.end();
  }
}

async function run(slug: string, file: string, { name, map, dryRun, json }: Options): Promise<void> {
  const parts = await partsOf(file);
  const mapping = { phone: 'phone', ...map };
  const { counts, errors, samples } = await changeDatabase(loadConfig(), async db => {
    const secrets = await secretBoxOf(loadConfig(), db);
    const context = await contextOf(db, slug, { secrets, scopes: ['campaigns:write', 'contacts:write'] });
    if (dryRun) return check(context, parts, mapping);
    return interruptible(
      () =>
        'no list was made, unless it was just complete. Some of its numbers may have become contacts. Upload the file again.',
      () => store(context, parts, mapping, name ?? basename(file, extname(file))),
    );
  });
  const rows = errors.map(({ row_number: row, message }) => ({ row, message }));
  if (json) print([{ ...counts, errors_by_row: rows, ...(dryRun && { samples }) }], true);
  else {
    printFirst(rows, SHOWN_ERRORS);
    if (samples.length > 0) print([...samples], false);
    print([counts], false);
  }
}

export const campaignUploadCommand = (): Command =>
  new Command('upload')
    .description('upload a CSV file as a list of recipients; unknown numbers become contacts')
    .argument('<tenant>', 'slug of the tenant')
    .argument('<file>', 'CSV file with a line of column names')
    .option('--name <name>', 'name of the list (default: that of the file)')
    .option('--map <field=column>', `column of a field: ${FIELDS.join(', ')}; repeatable`, mapped, {})
    .option('--dry-run', 'check the file, and write nothing', false)
    .option('--json', 'print JSON, with the rows that are left out', false)
    .action(run);

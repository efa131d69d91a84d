import { basename, extname } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../config.ts';
import { tenantOf } from '../core/principal.ts';
import { type ListError, MAPPED, MAX_LIST } from '../features/campaigns/lists/list-row.ts';
import type { MappingInput } from '../features/campaigns/lists/parse-file.ts';
import { type ListPreview, previewList } from '../features/campaigns/lists/preview.ts';
import { getErrors, showList } from '../features/campaigns/lists/store.ts';
import { addRows, createList } from '../features/campaigns/lists/upload.ts';
import { UserError } from '../platform/user-error.ts';
import type { Context } from '../schema/context.ts';
import { contextOf } from './campaign-context.ts';
import { readCsv } from './csv-file.ts';
import { changeDatabase, secretBoxOf } from './database.ts';
import { print } from './print.ts';
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

/** Splits the file into parts of at most the size of one upload, each with the line of column names. */
async function partsOf(file: string): Promise<string[]> {
  const table = await readCsv(file);
  const [header, ...rows] = table.map(({ cells }) => lineOf(cells));
  if (rows.length > MAX_LIST.rows)
    throw new UserError(`${file} has ${rows.length} rows. A list may have at most ${MAX_LIST.rows}: make two files.`);
  const count = Math.max(1, Math.ceil(rows.length / MAX_LIST.upload));
  return Array.from({ length: count }, (_, place) =>
    [header ?? '', ...rows.slice(place * MAX_LIST.upload, (place + 1) * MAX_LIST.upload)].join('\n'),
  );
}

async function check(context: Context, parts: readonly string[], mapping: MappingInput): Promise<Outcome> {
  const previews: ListPreview[] = [];
  for (const csv of parts) previews.push(await previewList(context, { csv, mapping }));
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
async function store(
  context: Context,
  parts: readonly string[],
  mapping: MappingInput,
  name: string,
): Promise<Outcome> {
  const [first = '', ...others] = parts;
  const progress = createProgress('Uploading', { unit: 'rows' });
  try {
    let list = await createList(context, { name, csv: first, mapping, isListed: others.length === 0 });
    progress.add(list.row_count);
    for (const csv of others) {
      const { row_count: before } = list;
      list = await addRows(context, { id: list.id, csv });
      progress.add(list.row_count - before);
    }
    const tenantId = tenantOf(context);
    if (others.length > 0) await showList(context.db.write, tenantId, list.id);
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
    return dryRun
      ? check(context, parts, mapping)
      : store(context, parts, mapping, name ?? basename(file, extname(file)));
  });
  const rows = errors.map(({ row_number: row, message }) => ({ row, message }));
  if (json) print([{ ...counts, errors_by_row: rows, ...(dryRun && { samples }) }], true);
  else {
    if (rows.length > 0) print(rows.slice(0, SHOWN_ERRORS), false);
    if (rows.length > SHOWN_ERRORS) process.stdout.write(`… and ${rows.length - SHOWN_ERRORS} more: see --json.\n`);
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

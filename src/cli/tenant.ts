import { Command, Option } from 'commander';
import { loadConfig } from '../config.ts';
import { FieldErrorList } from '../core/errors.ts';
import type { Db } from '../database/database.ts';
import { getAccount, listAccounts } from '../features/tenancy/account/account.sql.ts';
import type { AccountRow } from '../features/tenancy/account/account.ts';
import { changeSettings } from '../features/tenancy/account/change-settings.ts';
import type { OptWordsInput } from '../features/tenancy/account/opt-words.ts';
import type { SettingsInput } from '../features/tenancy/account/settings.ts';
import { COMMAND_LINE } from '../features/tenancy/audit/author.ts';
import { changeTenant } from '../features/tenancy/tenants/change.ts';
import { createTenant, tenantNameFault, tenantSlugFault } from '../features/tenancy/tenants/create.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import type { TenantRow } from '../features/tenancy/tenants/store.ts';
import { monthOf } from '../features/tenancy/usage/usage.ts';
import { systemClock } from '../platform/clock.ts';
import { UserError } from '../platform/user-error.ts';
import { RefusedByCommand } from './command-line-faults.ts';
import { changeDatabase, withDatabase } from './database.ts';
import { instant, limit, positive } from './option-values.ts';
import { print } from './print.ts';
import { staffCommand } from './staff.ts';
import { resolveDefaults } from './tenant-defaults.ts';
import { tenantDeleteCommand } from './tenant-delete.ts';

const thisMonth = (): string => monthOf(systemClock.now());

const shown = (account: AccountRow) => ({
  slug: account.slug,
  name: account.name,
  status: account.status,
  plan: account.plan_name,
  contacts: `${account.contacts}/${limit(account.max_contacts)}`,
  conversations: `${account.conversations}/${limit(account.max_conversations)}`,
  messages: `${account.messages}/${limit(account.max_messages)}`,
  staff: `${account.staff}/${limit(account.max_staff)}`,
  calls_per_minute: account.calls_per_minute,
  window_policy: account.window_policy,
  expires_at: account.plan_expires_at,
  created_at: account.created_at,
  keep_messages_days: account.keep_messages_days ?? 'forever',
  default_country: account.default_country,
});

/** Settings such as `opt_out_words.de`. */
const wordsByLanguage = ({ opt_words_by_language: words }: AccountRow): Record<string, string> =>
  Object.fromEntries(
    Object.entries(words).flatMap(([language, lists]) =>
      Object.entries(lists).map(([name, list]) => [`${name}.${language}`, list.join(',')]),
    ),
  );

/** Rows of `show`: one for each setting. */
const shownSettings = (account: AccountRow) => ({
  ...shown(account),
  time_zone: account.time_zone,
  opt_out_words: account.opt_out_words.join(','),
  opt_in_words: account.opt_in_words.join(','),
  ...wordsByLanguage(account),
  default_source: account.default_source_id,
  default_status: account.default_status_id,
  default_assignee: account.default_assignee_id,
});

/** Prints a tenant as `list` does. */
async function printTenant(db: Db, tenantId: number, json: boolean): Promise<void> {
  const account = await getAccount(db, tenantId, thisMonth());
  print(account ? [shown(account)] : [], json);
}

const windowPolicy = () =>
  new Option('--window-policy <policy>', 'handling of free-form messages outside the 24-hour service window').choices([
    'network',
    'refuse',
  ] as const);

/** A keyword, because commander turns a null from an option's parser into an empty text. */
const NEVER = 'never';
const neverOrInstant = (text: string): string => (text === NEVER ? NEVER : instant(text));

const FOREVER = 'forever';
const foreverOrDays = (text: string): number | typeof FOREVER => (text === FOREVER ? FOREVER : positive(text));

const NONE = 'none';
const orNull = (text: string | undefined): string | null | undefined => (text === NONE ? null : text);

const wordList = (text: string | undefined): string[] | undefined =>
  text?.split(',').filter(word => word.trim() !== '');

/** Texts that `createTenant` refuses, together with a plan that does not exist. */
const refusing =
  (faultOf: (text: string) => string | undefined) =>
  (text: string): string => {
    const fault = faultOf(text);
    if (fault !== undefined) throw new RefusedByCommand(fault);
    return text;
  };

interface CreateOptions {
  readonly name?: string;
  readonly plan: string;
  readonly expiresAt?: string;
  readonly windowPolicy: TenantRow['window_policy'];
  readonly json: boolean;
}

interface UpdateOptions {
  readonly name?: string;
  readonly plan?: string;
  readonly expiresAt?: string;
  readonly status?: TenantRow['status'];
  readonly keepMessagesDays?: number | typeof FOREVER;
  readonly windowPolicy?: TenantRow['window_policy'];
  readonly optOutWords?: string;
  readonly optInWords?: string;
  readonly language?: string;
  readonly defaultCountry?: string;
  readonly timeZone?: string;
  readonly defaultSource?: string;
  readonly defaultStatus?: string;
  readonly defaultAssignee?: string;
}

async function create(
  slug: string,
  { name = slug, plan, expiresAt, windowPolicy, json }: CreateOptions,
): Promise<void> {
  const tenant = { slug, name, plan, windowPolicy, planExpiresAt: expiresAt };
  await changeDatabase(loadConfig(), async db => {
    const { tenant_id: id } = await db.transaction(trx => createTenant(trx, tenant));
    await printTenant(db.write, id, json);
  });
}

async function update(slug: string, { json, ...options }: UpdateOptions & { readonly json: boolean }): Promise<void> {
  const { name, plan, status, expiresAt, keepMessagesDays: days } = options;
  if (Object.keys(options).length === 0) throw new UserError('Nothing to change: see `parley tenant update --help`.');
  const keepMessagesDays = days === FOREVER ? null : days;
  const planExpiresAt = expiresAt === NEVER ? null : expiresAt;
  await changeDatabase(loadConfig(), async db => {
    const { tenant_id: id } = await requireTenant(db.read, slug);
    await db.transaction(async trx => {
      const errors = new FieldErrorList();
      await errors.collect(() => changeTenant(trx, id, { name, plan, status, planExpiresAt, keepMessagesDays }));
      const settings = await settingsOf(trx, id, options, errors);
      await errors.collect(() => changeSettings(trx, id, settings, COMMAND_LINE));
      // Rolls back the transaction.
      errors.throwIfAny();
    });
    await printTenant(db.write, id, json);
  });
}

async function settingsOf(
  trx: Db,
  tenantId: number,
  options: UpdateOptions,
  errors: FieldErrorList,
): Promise<SettingsInput> {
  const { windowPolicy, timeZone, defaultSource, defaultStatus, defaultAssignee } = options;
  const named = { source: orNull(defaultSource), status: orNull(defaultStatus), assignee: orNull(defaultAssignee) };
  return {
    windowPolicy,
    timeZone,
    defaultCountry: orNull(options.defaultCountry),
    ...optWordsOf(options),
    ...(await resolveDefaults(trx, tenantId, named, errors)),
  };
}

function optWordsOf({ optOutWords, optInWords, language }: UpdateOptions): OptWordsInput {
  const words = { optOutWords: wordList(optOutWords), optInWords: wordList(optInWords) };
  if (language === undefined) return words;
  if (!words.optOutWords && !words.optInWords)
    throw new UserError('--language needs --opt-out-words or --opt-in-words.');
  return { optWordsByLanguage: [{ language, ...words }] };
}

export function tenantCommand(): Command {
  const command = new Command('tenant').description('create, list, update and delete tenants, and manage their staff');

  command
    .command('create')
    .argument('<slug>', 'lower-case letters, digits and hyphens', refusing(tenantSlugFault))
    .description('create a tenant')
    .option('--name <name>', 'display name (default: the slug)', refusing(tenantNameFault))
    .option('--plan <plan>', 'plan', 'standard')
    .option(
      '--expires-at <when>',
      'end of the plan: 30d, or an ISO 8601 time (default: never); reported, not enforced',
      instant,
    )
    .addOption(windowPolicy().default('network'))
    .option('--json', 'print JSON', false)
    .action(create);

  command
    .command('list')
    .description('list all tenants with their usage; conversations and messages of the current month')
    .option('--json', 'print JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const accounts = await withDatabase(loadConfig(), db => listAccounts(db.read, thisMonth()));
      print(accounts.map(shown), json);
    });

  command
    .command('show <slug>')
    .description('show a tenant with its usage and all settings')
    .option('--json', 'print JSON', false)
    .action(async (slug: string, { json }: { json: boolean }) => {
      const account = await withDatabase(loadConfig(), async db =>
        getAccount(db.read, (await requireTenant(db.read, slug)).tenant_id, thisMonth()),
      );
      const settings = account ? shownSettings(account) : {};
      if (json) print([settings], true);
      else
        print(
          Object.entries(settings).map(([name, value]) => ({ name, value })),
          false,
        );
    });

  command
    .command('update <slug>')
    .description('update a tenant; omitted options keep their value. Takes effect within 5 seconds')
    .option('--name <name>', 'display name')
    .option('--plan <plan>', 'plan; the usage of the current month is kept')
    .option(
      '--expires-at <when>',
      'end of the plan: 30d, an ISO 8601 time, or never; reported, not enforced',
      neverOrInstant,
    )
    .addOption(
      new Option('--status <status>', 'suspended: all requests of the tenant are rejected').choices([
        'active',
        'suspended',
      ]),
    )
    .addOption(windowPolicy())
    .option(
      '--keep-messages-days <days>',
      'delete older messages, hourly; or forever (the default). Counters are kept',
      foreverOrDays,
    )
    .option(
      '--default-country <code>',
      'country whose national phone numbers searches read, for example DE; or none (the default)',
    )
    .option('--time-zone <name>', 'time zone of the people of the tenant, for example Europe/Berlin (default: UTC)')
    .option('--opt-out-words <words>', 'comma-separated words that opt a person out; an empty text removes all')
    .option('--opt-in-words <words>', 'comma-separated words that opt a person in again; an empty text removes all')
    .option(
      '--language <tag>',
      'language of these words, for example de or pt-BR; the words of other languages stay (default: for all languages)',
    )
    .option('--default-source <source>', 'name or id of the source of new contacts; or none')
    .option('--default-status <status>', 'name or id of the status of new contacts; or none')
    .option(
      '--default-assignee <person>',
      'e-mail address or id of the staff member who gets new conversations; or none',
    )
    .option('--json', 'print JSON', false)
    .action(update);

  return command.addCommand(tenantDeleteCommand()).addCommand(staffCommand());
}

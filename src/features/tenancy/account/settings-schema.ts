import type { GraphQLResolveInfo } from 'graphql';
import { optionalInputId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { countryByCode } from '../../../platform/countries.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { CountryType } from '../../../schema/countries.ts';
import { entityPayload, mutation } from '../../../schema/payload.ts';
import { selectsOnlyKey } from '../../../schema/selection.ts';
import { Source, Status } from '../../contacts/labels/schema.ts';
import { sourceLoader, statusLoader } from '../../contacts/loaders.ts';
import { StaffMember, staffLoader } from '../staff/schema.ts';
import { MAX_OPT, type OptWords } from './opt-words.ts';
import { Account } from './schema.ts';
import type { Settings } from './settings.ts';
import { updateAccount } from './update.ts';

const WindowPolicy = builder.enumType('WindowPolicy', {
  description: 'What happens to a free-form message outside the 24-hour service window.',
  values: {
    NETWORK: {
      value: 'network',
      description: 'It is sent, and fails if the network refuses it (code 131047).',
    },
    REFUSE: { value: 'refuse', description: 'It is refused with OUTSIDE_SERVICE_WINDOW, and nothing is stored.' },
  } as const,
});

/** A row that a setting names, which is not read if only its ids are selected. */
const named = <Row extends { readonly id: number }>(
  id: number | null,
  info: GraphQLResolveInfo,
  read: (id: number) => Promise<Row | undefined>,
): Row | null | Promise<Row | undefined> => (id === null ? null : selectsOnlyKey(info) ? ({ id } as Row) : read(id));

const LanguageWords = builder.objectRef<OptWords & { readonly language: string }>('LanguageOptWords').implement({
  description: 'Opt-out and opt-in words of one language.',
  fields: t => ({
    language: t.exposeString('language', { description: 'Tag of the language (BCP 47): `de`, `pt-BR`.' }),
    optOutWords: t.stringList({
      description: 'Words that opt a person out.',
      resolve: ({ opt_out_words: words }) => [...words],
    }),
    optInWords: t.stringList({
      description: 'Words that opt a person in again.',
      resolve: ({ opt_in_words: words }) => [...words],
    }),
  }),
});

const AccountSettings = builder.objectRef<Settings>('AccountSettings').implement({
  description: 'Settings of an account, changed with `updateAccount`, or by the operator with `parley tenant update`.',
  fields: t => ({
    windowPolicy: t.field({
      type: WindowPolicy,
      description: 'What happens to free-form messages outside the service window.',
      resolve: settings => settings.window_policy,
    }),
    defaultCountry: t.field({
      type: CountryType,
      nullable: true,
      description: 'Country whose national phone numbers searches read; null for none.',
      resolve: settings =>
        settings.default_country === null ? null : (countryByCode(settings.default_country) ?? null),
    }),
    timeZone: t.exposeString('time_zone', {
      description: 'Zone of the days in statistics, unless a query names another one; for example `Europe/Berlin`.',
    }),
    optOutWords: t.stringList({
      description:
        'A message that is one of these words opts its sender out, whatever the language. Case, diacritics and punctuation are ignored.',
      resolve: settings => [...settings.opt_out_words],
    }),
    optInWords: t.stringList({
      description: 'A message that is one of these words opts its sender in again.',
      resolve: settings => [...settings.opt_in_words],
    }),
    optWordsByLanguage: t.field({
      type: [LanguageWords],
      description:
        'Further words by language, in the order of their tags. They count for everybody, as those of all languages do.',
      extensions: { listSize: 5 },
      resolve: ({ opt_words_by_language: words }) =>
        Object.entries(words).map(([language, lists]) => ({ language, ...lists })),
    }),
    defaultSource: t.field({
      type: Source,
      nullable: true,
      description: 'Source of new contacts for which none is given.',
      resolve: (settings, _args, context, info) =>
        named(settings.default_source_id, info, id => sourceLoader(context).load(id)),
    }),
    defaultStatus: t.field({
      type: Status,
      nullable: true,
      description: 'Status of new contacts for which none is given.',
      resolve: (settings, _args, context, info) =>
        named(settings.default_status_id, info, id => statusLoader(context).load(id)),
    }),
    defaultAssignee: t.field({
      type: StaffMember,
      nullable: true,
      description: 'Assignee of new conversations with contacts that have no assignee.',
      resolve: (settings, _args, context, info) =>
        named(settings.default_assignee_id, info, id => staffLoader(context).load(id)),
    }),
  }),
});

builder.objectField(Account, 'settings', t =>
  t.field({ type: AccountSettings, description: 'Settings of the account.', resolve: account => account }),
);

const LanguageWordsInput = builder.inputType('LanguageOptWordsInput', {
  description: 'Words of one language. Omitted lists are kept; a language without words is removed.',
  fields: t => ({
    language: t.string({
      required: true,
      description: 'Tag of the language (BCP 47): `de`, `pt-BR`; `pt_BR` is the same.',
    }),
    optOutWords: t.stringList({ description: 'All words of the language that opt a person out.' }),
    optInWords: t.stringList({ description: 'All words of the language that opt a person in again.' }),
  }),
});

mutation('updateAccount', {
  description: 'Changes settings of the account. They take effect within a second.',
  scope: 'account:write',
  input: builder.inputType('UpdateAccountInput', {
    description: 'Changes to the settings of the account. Omitted fields keep their values.',
    fields: t => ({
      windowPolicy: t.field({
        type: WindowPolicy,
        description: 'What happens to free-form messages outside the service window.',
      }),
      defaultCountry: t.string({
        description: 'Country by its code of ISO 3166-1: `DE`, `DEU` or `276`; null for none.',
      }),
      timeZone: t.string({ description: 'Name of the IANA time zone database, for example `Europe/Berlin`.' }),
      optOutWords: t.stringList({
        description: `Words of all languages that opt a person out: at most ${MAX_OPT.words} of at most ${MAX_OPT.characters} characters.`,
      }),
      optInWords: t.stringList({
        description: 'Words of all languages that opt a person in again, none of them an opt-out word.',
      }),
      optWordsByLanguage: t.field({
        type: [LanguageWordsInput],
        description: `Words of the languages that are named here; other languages keep theirs. At most ${MAX_OPT.languages} languages.`,
      }),
      defaultSourceId: t.id({ description: 'Global id or databaseId of the source of new contacts; null for none.' }),
      defaultStatusId: t.id({ description: 'Global id or databaseId of the status of new contacts; null for none.' }),
      defaultAssigneeId: t.id({
        description: 'Global id or databaseId of the assignee of new conversations; null: unassigned.',
      }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: entityPayload('account', Account, 'The account after the mutation.'),
  resolve: async ({ idempotencyKey, defaultSourceId, defaultStatusId, defaultAssigneeId, ...input }, context) => {
    const id = (type: string, value: string | null | undefined, field: string) =>
      optionalInputId(tenantOf(context), type, value, field);
    const ids = {
      defaultSourceId: id('ContactSource', defaultSourceId, 'defaultSourceId'),
      defaultStatusId: id('ContactStatus', defaultStatusId, 'defaultStatusId'),
      defaultAssigneeId: id('StaffMember', defaultAssigneeId, 'defaultAssigneeId'),
    };
    return { account: await updateAccount(context, { ...input, ...ids }, idempotencyKey) };
  },
});

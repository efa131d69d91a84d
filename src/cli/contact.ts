import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../config.ts';
import { invalid } from '../core/errors.ts';
import type { Database } from '../database/database.ts';
import { CONSENT_CATEGORIES, type ConsentCategory, evidenceFault } from '../features/contacts/consent/consent.ts';
import { recordConsent } from '../features/contacts/consent/record.ts';
import { listEntries } from '../features/contacts/consent/store.ts';
import type { ContactRow } from '../features/contacts/contact.ts';
import { mergeContacts } from '../features/contacts/merging/merge.ts';
import { listMerges } from '../features/contacts/merging/store.ts';
import { undoMerge } from '../features/contacts/merging/undo.ts';
import { findContacts } from '../features/contacts/store.ts';
import { COMMAND_LINE } from '../features/tenancy/audit/author.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { systemClock } from '../platform/clock.ts';
import { UserError } from '../platform/user-error.ts';
import { importConsentCommand } from './contact-consent.ts';
import { eraseCommand, exportCommand } from './contact-data.ts';
import { changeDatabase, withDatabase } from './database.ts';
import { positive } from './option-values.ts';
import { print } from './print.ts';

const shown = ({ id, firstname, lastname, phone, email, opted_out_at }: ContactRow) => ({
  id,
  name: `${firstname} ${lastname}`.trim(),
  phone,
  email,
  opted_out_at,
});

function contactId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Must be the id of a contact, such as 1207.');
  return Number(text);
}

/** Collects repeated contact ids. */
const contactIds = (text: string, previous: readonly number[] = []): readonly number[] => [
  ...previous,
  contactId(text),
];

async function readTenant<T>(slug: string, work: (db: Database, tenantId: number) => Promise<T>): Promise<T> {
  return withDatabase(loadConfig(), async db => work(db, (await requireTenant(db.read, slug)).tenant_id));
}

async function changeTenant<T>(slug: string, work: (db: Database, tenantId: number) => Promise<T>): Promise<T> {
  return changeDatabase(loadConfig(), async db => work(db, (await requireTenant(db.read, slug)).tenant_id));
}

export function contactCommand(): Command {
  return new Command('contact')
    .description('merge contacts, record consent, export and erase personal data')
    .addCommand(mergeCommand())
    .addCommand(unmergeCommand())
    .addCommand(mergesCommand())
    .addCommand(consentCommand())
    .addCommand(importConsentCommand())
    .addCommand(exportCommand())
    .addCommand(eraseCommand());
}

function mergeCommand(): Command {
  return new Command('merge')
    .description('merge contacts that are the same person; can be undone for 30 days')
    .argument('<tenant>', 'slug of the tenant')
    .argument('<ids...>', 'ids of the contacts', contactIds)
    .option(
      '--into <id>',
      'surviving contact (default: the one with more fields filled, then the older one)',
      contactId,
    )
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `
Messages, conversations, groups, consent, codes and queued messages move to the surviving contact. Its fields are kept; empty fields are
filled from the others. The ids of the others resolve to it.`,
    )
    .action(async (slug: string, ids: readonly number[], { into, json }: { into?: number; json: boolean }) => {
      const all = [...new Set(into === undefined ? ids : [into, ...ids])];
      if (all.length < 2)
        throw new UserError('Give at least two contacts to merge: see `parley contact merge --help`.');
      const contact = await changeTenant(slug, (db, tenantId) =>
        db.transaction(trx =>
          mergeContacts(trx, tenantId, {
            survivorId: into,
            ids: all,
            reason: 'manual',
            author: COMMAND_LINE,
            nowMs: systemClock.now(),
          }),
        ),
      );
      print([shown(contact)], json);
    });
}

function unmergeCommand(): Command {
  return new Command('unmerge')
    .description('undo a merge of the last 30 days: restores the merged contact with its own data')
    .argument('<tenant>', 'slug of the tenant')
    .argument('<former-id>', 'id of the contact before the merge, as listed by `parley contact merges`', contactId)
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `
Data received since the merge stays with the other contact, except opt-outs, which then apply to both. Webhooks of the network do not
merge the two again.`,
    )
    .action(async (slug: string, formerId: number, { json }: { json: boolean }) => {
      const contact = await changeTenant(slug, (db, tenantId) =>
        db.transaction(trx => undoMerge(trx, tenantId, formerId, { author: COMMAND_LINE, nowMs: systemClock.now() })),
      );
      print([shown(contact)], json);
    });
}

function mergesCommand(): Command {
  return new Command('merges')
    .description('list merges, newest first')
    .argument('<tenant>', 'slug of the tenant')
    .option('--contact <id>', 'only merges into this contact', contactId)
    .option('--limit <number>', 'maximum number of rows', positive, 100)
    .option('--json', 'print JSON', false)
    .action(async (slug: string, { contact, limit, json }: { contact?: number; limit: number; json: boolean }) => {
      print(await readTenant(slug, (db, tenantId) => listMerges(db.read, tenantId, contact ?? null, limit)), json);
    });
}

interface ConsentOptions {
  readonly out?: ConsentCategory;
  readonly in?: ConsentCategory;
  readonly evidence?: string;
  readonly limit: number;
  readonly json: boolean;
}

function consentCommand(): Command {
  const category = (flags: string, description: string) => new Option(flags, description).choices(CONSENT_CATEGORIES);
  return new Command('consent')
    .description('record the consent of a contact, and list its consent entries, newest first')
    .argument('<tenant>', 'slug of the tenant')
    .argument('<id>', 'id of the contact', contactId)
    .addOption(category('--out <category>', 'record an opt-out from this category').conflicts('in'))
    .addOption(category('--in <category>', 'record an opt-in to this category'))
    .option('--evidence <text>', 'evidence, such as the date of a letter')
    .option('--limit <number>', 'maximum number of entries to list', positive, 100)
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `
An opt-out from all covers every category, and only an opt-in to all lifts it. One-time codes that a person requests are still sent.`,
    )
    .action(async (slug: string, id: number, { out, in: optIn, evidence, limit, json }: ConsentOptions) => {
      const change = out ?? optIn;
      if (change === undefined && evidence !== undefined)
        throw new UserError('--evidence needs --out or --in with a category.');
      const fault = evidence === undefined ? undefined : evidenceFault(evidence);
      if (fault) throw invalid({ evidence: [fault.message] }, fault.code);
      const open = change === undefined ? readTenant : changeTenant;
      const entries = await open(slug, async (db, tenantId) => {
        const contact = (await findContacts(db.write, tenantId, [id])).get(id);
        if (!contact) throw new UserError(`The tenant ${slug} has no contact ${id}.`);
        if (change !== undefined)
          await db.transaction(trx =>
            recordConsent(trx, tenantId, [
              {
                contactId: contact.id,
                category: change,
                state: out === undefined ? 'opted_in' : 'opted_out',
                source: 'staff',
                evidence,
                author: COMMAND_LINE,
                occurredAt: new Date(systemClock.now()).toISOString(),
              },
            ]),
          );
        return listEntries(db.write, tenantId, contact.id, limit);
      });
      print(entries, json);
    });
}

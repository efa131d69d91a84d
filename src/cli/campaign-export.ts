import { Command, Option } from 'commander';
import { loadConfig } from '../config.ts';
import { recipientsPage } from '../features/campaigns/recipients/export.ts';
import { RECIPIENT_STATES, type RecipientState } from '../features/campaigns/recipients/recipient.ts';
import { getProgress } from '../features/campaigns/recipients/store.ts';
import { getCampaigns } from '../features/campaigns/store.ts';
import type { FileType } from '../features/contacts/exports/export.ts';
import { writeRows } from '../features/contacts/exports/write.ts';
import { COMMAND_LINE } from '../features/tenancy/audit/author.ts';
import { record } from '../features/tenancy/audit/record.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { UserError } from '../platform/user-error.ts';
import { withDatabase } from './database.ts';
import { objectId } from './option-values.ts';
import { writeOutput } from './output-file.ts';
import { print } from './print.ts';
import { createProgress } from './progress.ts';

interface Options {
  readonly format: FileType;
  readonly state?: RecipientState;
  readonly out: string;
  readonly json: boolean;
}

export function campaignExportCommand(): Command {
  return new Command('export')
    .description('write the recipients of a campaign with their states to a file')
    .argument('<tenant>', 'slug of the tenant')
    .argument('<id>', 'id of the campaign', objectId)
    .addOption(new Option('--format <format>', 'format of the file').choices(['csv', 'json']).default('csv'))
    .addOption(new Option('--state <state>', 'only recipients in this state').choices(RECIPIENT_STATES))
    .option('--out <file>', 'output file, or - for standard output', '-')
    .option('--json', 'print JSON: the number of recipients written to the file', false)
    .action(async (slug: string, campaignId: number, { format, state, out, json }: Options) => {
      const count = await withDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, slug);
        const [campaign] = await getCampaigns(db.read, tenantId, [campaignId]);
        if (!campaign) throw new UserError(`There is no campaign ${campaignId}.`);
        await db.transaction(trx =>
          record(trx, tenantId, {
            author: COMMAND_LINE,
            action: 'export.created',
            subject: `campaign:${campaignId}`,
            details: { resource: 'campaign_recipients', file_type: format },
          }),
        );
        const filter = state === undefined ? {} : { state: { eq: state } };
        const states = state === undefined ? await getProgress(db.read, tenantId, [campaignId]) : undefined;
        const progress = createProgress('Exporting', {
          total: states?.get(campaignId)?.total,
          unit: 'recipients',
        });
        const written = await writeOutput(out, write =>
          writeRows(
            async (after, limit) => {
              const page = await recipientsPage(db.read, tenantId, { campaignId, filter }, after, limit);
              progress.add(page.rows.length);
              return page;
            },
            format,
            write,
          ),
        );
        progress.end();
        return written;
      });
      if (out === '-') return;
      if (json) return print([{ campaign: campaignId, file: out, recipients: count }], true);
      process.stdout.write(`${count} recipients written to ${out}.\n`);
    });
}

import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { MAX_PAGE_SIZE } from '../core/list-args.ts';
import { tenantOf } from '../core/principal.ts';
import type { Database } from '../database/database.ts';
import type { CampaignRow } from '../features/campaigns/campaign.ts';
import { campaignPage } from '../features/campaigns/list.ts';
import { previewCampaign } from '../features/campaigns/preview/preview.ts';
import type { Progress } from '../features/campaigns/recipients/progress.ts';
import { getCosts, getProgress } from '../features/campaigns/recipients/store.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign, startCampaign } from '../features/campaigns/run/act.ts';
import { getCampaigns } from '../features/campaigns/store.ts';
import { configuredPrices } from '../features/messages/pricing/price-table.ts';
import { COMMAND_LINE } from '../features/tenancy/audit/author.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { SECOND } from '../platform/clock.ts';
import { UserError } from '../platform/user-error.ts';
import type { Context } from '../schema/context.ts';
import { contextOf } from './campaign-context.ts';
import { campaignExportCommand } from './campaign-export.ts';
import { campaignUploadCommand } from './campaign-upload.ts';
import { changeDatabase, withDatabase } from './database.ts';
import { instant, objectId } from './option-values.ts';
import { print, printable } from './print.ts';
import { createProgress } from './progress.ts';

const shown = (row: CampaignRow, progress: Progress | undefined) => ({
  id: row.id,
  name: row.name,
  status: row.status,
  reason: row.status_reason ?? '',
  recipients: progress?.total ?? 0,
  pending: progress?.pending ?? 0,
  skipped: progress?.skipped ?? 0,
  sent: progress?.sent ?? 0,
  delivered: progress?.delivered ?? 0,
  read: progress?.read ?? 0,
  replied: progress?.replied ?? 0,
  failed: progress?.failed ?? 0,
  opted_out: progress?.opted_out ?? 0,
  started_at: row.started_at ?? '',
});

/** A message has lines, and names of contacts in it. */
const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** All campaigns of a tenant, page by page. */
async function listAll(context: Context): Promise<object[]> {
  const { read } = context.db;
  const rows: object[] = [];
  for (let after: string | undefined; ; ) {
    const page = await campaignPage(context, { first: MAX_PAGE_SIZE, after });
    const ids = page.rows.map(({ id }) => id);
    const progress = await getProgress(read, tenantOf(context), ids);
    rows.push(...page.rows.map(row => shown(row, progress.get(row.id))));
    const last = page.rows.at(-1);
    if (!page.hasNextPage || !last) return rows;
    after = page.cursor(last);
  }
}

async function findOne(db: Database, tenantId: number, id: number) {
  const [row] = await getCampaigns(db.write, tenantId, [id]);
  if (!row) throw new UserError(`There is no campaign ${id}.`);
  return { row, progress: (await getProgress(db.write, tenantId, [id])).get(id) };
}

/** Shows the progress once a second; prints lines if the output is not a terminal. */
async function follow(db: Database, tenantId: number, id: number): Promise<void> {
  const { name } = (await findOne(db, tenantId, id)).row;
  const bar = createProgress(printable(name), { unit: 'recipients', lines: true });
  for (;;) {
    const { row, progress } = await findOne(db, tenantId, id);
    const { total = 0, pending = 0, sent = 0, delivered = 0, read = 0, failed = 0 } = progress ?? {};
    const counts = `${row.status}: ${sent} sent, ${delivered} delivered, ${read} read, ${failed} failed`;
    bar.set(total - pending, total, counts);
    if (!['scheduled', 'running'].includes(row.status)) break;
    await new Promise(resolve => setTimeout(resolve, SECOND));
  }
  bar.end();
}

interface Shown {
  readonly json: boolean;
  readonly follow?: boolean;
}

async function show(slug: string, id: number, { json, follow: isFollowed = false }: Shown): Promise<void> {
  await withDatabase(loadConfig(), async db => {
    const { tenant_id: tenantId } = await requireTenant(db.read, slug);
    if (isFollowed) await follow(db, tenantId, id);
    const { row, progress } = await findOne(db, tenantId, id);
    const prices = await configuredPrices(loadConfig());
    const [costs = []] = await getCosts(db.write, tenantId, [id], prices);
    const cost = costs.map(({ amount, currency }) => `${amount} ${currency}`);
    print([{ ...shown(row, progress), cost: cost.join(', ') }], json);
  });
}

export function campaignCommand(): Command {
  const command = new Command('campaign').description(
    'list, preview, start, pause, resume, cancel and export campaigns, and upload lists for them',
  );
  const withId = (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .argument('<tenant>', 'slug of the tenant')
      .argument('<id>', 'id of the campaign', objectId)
      .option('--json', 'print JSON', false);

  command
    .command('list')
    .description('list the campaigns of a tenant, newest first, with their progress')
    .argument('<tenant>', 'slug of the tenant')
    .option('--json', 'print JSON', false)
    .action(async (slug: string, { json }: Shown) => {
      const rows = await withDatabase(loadConfig(), async db => listAll(await contextOf(db, slug)));
      print(rows, json);
    });

  withId('show', 'show a campaign and its progress')
    .option('--follow', 'show the progress in one line until the campaign stops', false)
    .action(show);

  withId('preview', 'count recipients and skipped contacts by reason, and estimate time and cost').action(
    async (slug: string, id: number, { json }: Shown) => {
      const { samples, skips, cost, ...counts } = await withDatabase(loadConfig(), async db =>
        previewCampaign(await contextOf(db, slug), id),
      );
      const row = {
        ...counts,
        ...Object.fromEntries(skips.map(({ reason, count }) => [reason, count])),
        cost: cost?.map(({ amount, currency }) => `${amount} ${currency}`).join(', ') ?? 'unknown',
      };
      print([row], json);
      if (!json)
        for (const { rendered, fault } of samples)
          process.stdout.write(`\n${printableLines(fault ?? rendered?.body ?? '')}\n`);
    },
  );

  withId('start', 'start a campaign, now or at a time')
    .option('--at <time>', 'start time: 2h from now, or an ISO 8601 time', instant)
    .option('--follow', 'show the progress in one line until the campaign stops', false)
    .action(async (slug: string, id: number, { at, ...options }: Shown & { readonly at?: string }) => {
      await changeDatabase(loadConfig(), async db =>
        startCampaign(await contextOf(db, slug), id, { scheduledAt: at }, COMMAND_LINE),
      );
      await show(slug, id, options);
    });

  for (const [name, act, description] of [
    ['pause', pauseCampaign, 'pause a running campaign; nothing more is sent'],
    ['resume', resumeCampaign, 'resume a paused campaign'],
    ['cancel', cancelCampaign, 'cancel a campaign for good; nothing more is sent'],
  ] as const)
    withId(name, description).action(async (slug: string, id: number, { json }: Shown) => {
      await changeDatabase(loadConfig(), async db => act(await contextOf(db, slug), id, {}, COMMAND_LINE));
      await show(slug, id, { json });
    });

  return command.addCommand(campaignExportCommand()).addCommand(campaignUploadCommand());
}

import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import type { AuditEntry } from '../features/tenancy/audit/entry.ts';
import { listAuditEntries } from '../features/tenancy/audit/store.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { print, withDatabase } from './database.ts';
import { positive } from './option-values.ts';

const shown = ({ occurred_at, author, action, subject, details }: AuditEntry) => ({
  occurred_at,
  author: `${author.kind}${author.id === null ? '' : ` ${author.id}`} (${author.name})`,
  action,
  subject,
  details: Object.keys(details).length === 0 ? '' : JSON.stringify(details),
});

export function auditCommand(): Command {
  return new Command('audit')
    .description('list the audit log of a tenant, newest first: merges, exports, erasures, token changes')
    .argument('<tenant>', 'slug of the tenant')
    .option('--limit <number>', 'maximum number of entries', positive, 100)
    .option('--before <id>', 'only entries older than this id (as printed by --json)')
    .option('--json', 'print JSON', false)
    .action(async (slug: string, { limit, before, json }: { limit: number; before?: string; json: boolean }) => {
      const entries = await withDatabase(loadConfig(), async db =>
        listAuditEntries(db.read, (await requireTenant(db.read, slug)).tenant_id, limit, before),
      );
      print(json ? entries : entries.map(shown), json);
    });
}

import { Command, InvalidArgumentError } from 'commander';
import { validate } from 'uuid';
import { loadConfig } from '../config.ts';
import { type AuditEntry, listAuditEntries } from '../features/tenancy/audit/store.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { withDatabase } from './database.ts';
import { positive } from './option-values.ts';
import { print } from './print.ts';

const shown = ({ occurred_at, author, action, subject, details }: AuditEntry) => ({
  occurred_at,
  author: `${author.kind}${author.id === null ? '' : ` ${author.id}`} (${author.name})`,
  action,
  subject,
  details: Object.keys(details).length === 0 ? '' : JSON.stringify(details),
});

function entryId(text: string): string {
  if (!validate(text)) throw new InvalidArgumentError('Must be the id of an entry, as printed by --json.');
  return text;
}

export function auditCommand(): Command {
  return new Command('audit')
    .description('list the audit log of a tenant, newest first: merges, exports, erasures, token changes, campaigns')
    .argument('<tenant>', 'slug of the tenant')
    .option('--limit <number>', 'maximum number of entries', positive, 100)
    .option('--before <id>', 'only entries older than this id (as printed by --json)', entryId)
    .option('--json', 'print JSON', false)
    .action(async (slug: string, { limit, before, json }: { limit: number; before?: string; json: boolean }) => {
      const entries = await withDatabase(loadConfig(), async db =>
        listAuditEntries(db.read, (await requireTenant(db.read, slug)).tenant_id, limit, before),
      );
      print(json ? entries : entries.map(shown), json);
    });
}

import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { claimMedia } from '../app/media-marker.ts';
import { openFiles } from '../app/open-files.ts';
import { loadConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import { countTenantRows, deleteTenantRows } from '../database/tenant-rows.sql.ts';
import { disconnectChannel } from '../features/channels/disconnect.ts';
import { listChannels, releaseNumbers } from '../features/channels/store.ts';
import { changeTenant } from '../features/tenancy/tenants/change.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { deleteTenant } from '../features/tenancy/tenants/store.ts';
import { SECOND } from '../platform/clock.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, POLLED } from './database.ts';
import { interruptible } from './interrupted.ts';
import { print } from './print.ts';
import { createProgress } from './progress.ts';

/** Running processes keep a tenant cached for at most this long. */
const CACHED_MS = 5 * SECOND;

interface Options {
  readonly yes: boolean;
  readonly json: boolean;
}

async function remove(slug: string, { yes, json }: Options): Promise<void> {
  const config = loadConfig();
  const files = await openFiles(config);
  try {
    const rows = await changeDatabase(config, async db => {
      await claimMedia(config, db);
      const { tenant_id: tenantId, name } = await requireTenant(db.read, slug);
      if (!yes)
        throw new UserError(
          `This deletes ${name} (${slug}) for ever: contacts, messages, tokens, files, audit log. Repeat it with --yes.`,
        );
      return interruptible(
        () => `${slug} is suspended and part of it is deleted. Run the command again for the rest.`,
        () => deleteAll(db, files, tenantId),
      );
    });
    print([{ tenant: slug, rows_deleted: rows }], json);
  } finally {
    await files.close();
  }
}

/** @returns the number of deleted rows */
async function deleteAll(db: Database, files: FileStore, tenantId: number): Promise<number> {
  await stop(db, tenantId);
  const deleted = await deleteRows(db, tenantId);
  await deleteFiles(files, tenantId);
  await db.transaction(trx => deleteTenant(trx, tenantId));
  // Again, for what a running transaction or the fetch of a file has written since: the command could not be repeated for it, because
  // the tenant is no longer found.
  const since = await deleteRows(db, tenantId);
  await deleteFiles(files, tenantId);
  return deleted + since;
}

/** Ends all work for a tenant: its requests are rejected, its waiting messages cancelled, webhooks of its numbers are not its own any more. */
async function stop(db: Database, tenantId: number): Promise<void> {
  await db.transaction(trx => changeTenant(trx, tenantId, { status: 'suspended' }));
  for (const { id } of await listChannels(db.write, tenantId))
    await disconnectChannel({ db, ...POLLED }, tenantId, id, 'The tenant is being deleted.');
  // A disconnected number still gets its webhooks, for the statuses of what was sent: new messages would arrive as fast as they are deleted.
  await db.transaction(trx => releaseNumbers(trx, tenantId));
  await wait(CACHED_MS);
}

/** @returns the number of deleted rows */
async function deleteRows(db: Database, tenantId: number): Promise<number> {
  const progress = createProgress('Deleting', { total: await countTenantRows(db, tenantId) });
  let total = 0;
  try {
    await deleteTenantRows(db, tenantId, ({ rows }) => {
      total += rows;
      progress.add(rows);
    });
  } finally {
    progress.end();
  }
  return total;
}

async function deleteFiles(files: FileStore, tenantId: number): Promise<void> {
  const progress = createProgress('Deleting', { unit: 'files' });
  try {
    await files.deleteAll(String(tenantId), progress.add);
  } finally {
    progress.end();
  }
}

export const tenantDeleteCommand = (): Command =>
  new Command('delete')
    .description('delete a tenant with everything it has. Waits 5 seconds; can be repeated after an interruption')
    .argument('<slug>', 'slug of the tenant')
    .option('--yes', 'confirm', false)
    .option('--json', 'print JSON', false)
    .action(remove);

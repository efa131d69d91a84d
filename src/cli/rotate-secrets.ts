import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { countSealed, reseal } from '../database/reseal.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, secretBoxOf, withDatabase } from './database.ts';
import { interruptible } from './interrupted.ts';
import { print } from './print.ts';
import { createProgress, type Progress } from './progress.ts';

export function rotateSecretsCommand(): Command {
  return new Command('rotate-secrets')
    .description('encrypt all secrets of the database with PARLEY_SECRET_KEY, after the key was changed')
    .option('--status', 'only count secrets encrypted with another key', false)
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `
PARLEY_SECRET_KEY is the new key, PARLEY_PREVIOUS_SECRET_KEY the old one. Works in batches while the gateway runs; if it
is interrupted, start it again. Afterwards every process needs the new key. Keep PARLEY_PREVIOUS_SECRET_KEY set
for another 24 hours: earlier idempotency keys and one-time passwords are verified with it. See docs/operations.md.`,
    )
    .action(async ({ status, json }: { status: boolean; json: boolean }) => {
      const config = loadConfig();
      await (status ? withDatabase : changeDatabase)(config, async db => {
        const box = await secretBoxOf(config, db);
        const counts = await countSealed(db.write, box);
        if (status) return print(counts, json);
        const stale = new Map(counts.map(count => [count.column, count.stale]));
        let shown: { readonly column: string; readonly progress: Progress } | undefined;
        const resealed = await interruptible(
          () => 'what was encrypted stays so. Run `parley rotate-secrets` again for the rest.',
          () =>
            reseal(db.write, box, ({ column, done, unreadable }) => {
              if (shown?.column !== column) {
                shown?.progress.end();
                const options = { total: stale.get(column), unit: 'values', lines: true };
                shown = { column, progress: createProgress(column, options) };
              }
              shown.progress.set(done + unreadable);
            }),
        ).finally(() => shown?.progress.end());
        const unreadable = resealed.filter(column => column.unreadable > 0);
        if (unreadable.length > 0) throw new UserError(unreadableMessage(unreadable));
        if (json) return print(resealed, true);
        const done = resealed.reduce((sum, column) => sum + column.done, 0);
        process.stdout.write(
          done === 0
            ? 'Nothing to do: every secret is encrypted with PARLEY_SECRET_KEY.\n'
            : `Encrypted ${done} secrets with PARLEY_SECRET_KEY. PARLEY_PREVIOUS_SECRET_KEY may be removed in 24 hours.\n`,
        );
      });
    });
}

const unreadableMessage = (columns: readonly { readonly column: string; readonly unreadable: number }[]): string =>
  `Neither key decrypts these values:\n${columns.map(({ column, unreadable }) => `  ${column}: ${unreadable}`).join('\n')}\nSet the key that they were encrypted with as PARLEY_PREVIOUS_SECRET_KEY and run this again. The old key stays valid until then.`;

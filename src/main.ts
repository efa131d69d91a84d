import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { channelCommand } from './commands/channel.ts';
import { devCommand } from './commands/dev.ts';
import { emulatorCommand } from './commands/emulator.ts';
import { migrateCommand } from './commands/migrate.ts';
import { schemaCommand } from './commands/schema.ts';
import { serveCommand } from './commands/serve.ts';
import { tenantCommand } from './commands/tenant.ts';
import { tokenCommand } from './commands/token.ts';
import { CodedError, type FieldErrors } from './errors.ts';
import { UserError } from './platform/user-error.ts';

/** The command line. What only one command needs it loads itself, so that the others start at once. A user's error is a sentence and an exit code; anything else is a fault of ours and shows its stack. */
const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('parley')
  .description('A self-hosted, multi-tenant GraphQL gateway for business messaging on WhatsApp.')
  .version(version)
  .showHelpAfterError('(see --help)')
  .addCommand(devCommand())
  .addCommand(serveCommand())
  .addCommand(migrateCommand())
  .addCommand(tenantCommand())
  .addCommand(tokenCommand())
  .addCommand(channelCommand())
  .addCommand(emulatorCommand())
  .addCommand(schemaCommand());

try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CodedError) process.stderr.write(`${sentencesOf(error)}\n`);
  else if (error instanceof UserError) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = error instanceof UserError ? error.exitCode : 1;
}

/** A fault of a field is told with the field's name: the message alone does not have it. */
function sentencesOf({ code, message, details }: CodedError): string {
  if (code !== 'VALIDATION_ERROR' || !details) return message;
  return Object.entries(details as FieldErrors)
    .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
    .join('\n');
}

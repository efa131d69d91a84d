import { readFile } from 'node:fs/promises';
import { Command, CommanderError } from 'commander';
import { CodedError, type FieldErrors } from './core/errors.ts';
import { UserError } from './platform/user-error.ts';

/**
 * The command line. Loads only the given command: `--version` takes 0.2 s of CPU, and 0.6 s if all are loaded. A UserError
 * prints its message and sets the exit code; any other error is a bug and prints its stack.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./cli/dev.ts')).devCommand(),
  serve: async () => (await import('./cli/serve.ts')).serveCommand(),
  migrate: async () => (await import('./cli/migrate.ts')).migrateCommand(),
  doctor: async () => (await import('./cli/doctor.ts')).doctorCommand(),
  tenant: async () => (await import('./cli/tenant.ts')).tenantCommand(),
  plan: async () => (await import('./cli/plan.ts')).planCommand(),
  token: async () => (await import('./cli/token.ts')).tokenCommand(),
  channel: async () => (await import('./cli/channel.ts')).channelCommand(),
  contact: async () => (await import('./cli/contact.ts')).contactCommand(),
  costs: async () => (await import('./cli/costs.ts')).costsCommand(),
  campaign: async () => (await import('./cli/campaign.ts')).campaignCommand(),
  audit: async () => (await import('./cli/audit.ts')).auditCommand(),
  webhooks: async () => (await import('./cli/webhooks.ts')).webhooksCommand(),
  'adopt-media': async () => (await import('./cli/adopt-media.ts')).adoptMediaCommand(),
  'rotate-secrets': async () => (await import('./cli/rotate-secrets.ts')).rotateSecretsCommand(),
  lanes: async () => (await import('./cli/lanes.ts')).lanesCommand(),
  emulator: async () => (await import('./cli/emulator.ts')).emulatorCommand(),
  'restore-log': async () => (await import('./cli/restore-log.ts')).restoreLogCommand(),
  outbox: async () => (await import('./cli/outbox.ts')).outboxCommand(),
  schema: async () => (await import('./cli/schema.ts')).schemaCommand(),
};

const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('parley')
  .description('A self-hosted, multi-tenant GraphQL gateway for business messaging on WhatsApp.')
  .version(version)
  .showHelpAfterError('(see --help)')
  // commander throws instead of exiting, so that pending output is written before the process ends.
  .exitOverride();

try {
  const commands = selectCommands(process.argv[2]);
  for (const load of commands) addCommand(program, await load());
  if (commands.length > 1) await addCompletion(program);
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = error instanceof UserError ? error.exitCode : 1;
  }
}

/** The named command; all commands for the help and for an unknown name. */
function selectCommands(name: string | undefined): readonly (() => Promise<Command>)[] {
  if (name === '--version' || name === '-V') return [];
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command ? [command] : Object.values(COMMANDS);
}

/** Adds `completion <shell>`, and the hidden command that the script of the shell calls. */
async function addCompletion(parent: Command): Promise<void> {
  const { default: addTo } = await import('@bomb.sh/tab/commander');
  addTo(parent, { completionCommandName: 'completion' });
}

/** Adds a command. It and its subcommands inherit the error handling of the program. */
function addCommand(parent: Command, command: Command): void {
  parent.addCommand(command);
  inheritSettings(parent, command);
}

function inheritSettings(parent: Command, command: Command): void {
  command.copyInheritedSettings(parent);
  for (const subcommand of command.commands) inheritSettings(command, subcommand);
}

function messageOf(error: unknown): string {
  if (error instanceof CodedError) return fieldMessages(error);
  if (error instanceof UserError) return error.message;
  return String((error instanceof Error && error.stack) || error);
}

/** Validation messages do not contain the field name: it is prepended. */
function fieldMessages({ code, message, details }: CodedError): string {
  if (code !== 'VALIDATION_ERROR' || !details) return message;
  return Object.entries(details as FieldErrors)
    .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
    .join('\n');
}

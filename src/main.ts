import { readFile } from 'node:fs/promises';
import { Command, CommanderError } from 'commander';
import { CodedError, type FieldErrors } from './errors.ts';
import { UserError } from './platform/user-error.ts';

/** The command line. Only the command that is asked for is loaded: `--version` takes 0.2 s of a processor so, and took 0.6 s with all of them. A user's error is a sentence and an exit code; anything else is a fault of ours and shows its stack. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./commands/dev.ts')).devCommand(),
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand(),
  tenant: async () => (await import('./commands/tenant.ts')).tenantCommand(),
  token: async () => (await import('./commands/token.ts')).tokenCommand(),
  channel: async () => (await import('./commands/channel.ts')).channelCommand(),
  emulator: async () => (await import('./commands/emulator.ts')).emulatorCommand(),
  schema: async () => (await import('./commands/schema.ts')).schemaCommand(),
};

const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('parley')
  .description('A self-hosted, multi-tenant GraphQL gateway for business messaging on WhatsApp.')
  .version(version)
  .showHelpAfterError('(see --help)')
  // Errors and ends of commander come to the catch below, as all others do: what is written then gets out before the process ends.
  .exitOverride();

try {
  for (const load of asked(process.argv[2])) add(program, await load());
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`${wordsOf(error)}\n`);
    process.exitCode = error instanceof UserError ? error.exitCode : 1;
  }
}

/** The command with the name that was given; all for the list of them, and for who mistyped one. */
function asked(name: string | undefined): readonly (() => Promise<Command>)[] {
  if (name === '--version' || name === '-V') return [];
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command ? [command] : Object.values(COMMANDS);
}

/** Adds a command, which behaves in errors as the program does, and so do those below it. */
function add(parent: Command, command: Command): void {
  parent.addCommand(command);
  inherit(parent, command);
}

function inherit(parent: Command, command: Command): void {
  command.copyInheritedSettings(parent);
  for (const below of command.commands) inherit(command, below);
}

function wordsOf(error: unknown): string {
  if (error instanceof CodedError) return sentencesOf(error);
  if (error instanceof UserError) return error.message;
  return String((error instanceof Error && error.stack) || error);
}

/** A fault of a field is told with the field's name: the message alone does not have it. */
function sentencesOf({ code, message, details }: CodedError): string {
  if (code !== 'VALIDATION_ERROR' || !details) return message;
  return Object.entries(details as FieldErrors)
    .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
    .join('\n');
}

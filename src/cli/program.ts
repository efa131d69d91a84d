import { styleText } from 'node:util';
import type { RootCommand } from '@bomb.sh/tab';
import { Command } from 'commander';
import { collectFaults } from './command-line-faults.ts';

/** Each command is loaded when it is needed: `--version` takes 0.2 s of CPU, and 0.6 s if all are loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./dev.ts')).devCommand(),
  serve: async () => (await import('./serve.ts')).serveCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  tenant: async () => (await import('./tenant.ts')).tenantCommand(),
  plan: async () => (await import('./plan.ts')).planCommand(),
  token: async () => (await import('./token.ts')).tokenCommand(),
  channel: async () => (await import('./channel.ts')).channelCommand(),
  contact: async () => (await import('./contact.ts')).contactCommand(),
  costs: async () => (await import('./costs.ts')).costsCommand(),
  campaign: async () => (await import('./campaign.ts')).campaignCommand(),
  audit: async () => (await import('./audit.ts')).auditCommand(),
  webhooks: async () => (await import('./webhooks.ts')).webhooksCommand(),
  'adopt-media': async () => (await import('./adopt-media.ts')).adoptMediaCommand(),
  'rotate-secrets': async () => (await import('./rotate-secrets.ts')).rotateSecretsCommand(),
  lanes: async () => (await import('./lanes.ts')).lanesCommand(),
  readers: async () => (await import('./readers.ts')).readersCommand(),
  emulator: async () => (await import('./emulator.ts')).emulatorCommand(),
  'restore-log': async () => (await import('./restore-log.ts')).restoreLogCommand(),
  outbox: async () => (await import('./outbox.ts')).outboxCommand(),
  schema: async () => (await import('./schema.ts')).schemaCommand(),
};

/**
 * Builds the command line.
 * @param name first argument: only this command is loaded; all for the help, for an unknown name and for undefined
 */
export async function createProgram(version: string, name?: string): Promise<Command> {
  const program = new Command('parley')
    .description('A self-hosted, multi-tenant GraphQL gateway for business messaging on WhatsApp.')
    .version(version)
    .option('--no-color', 'print no colours, as with NO_COLOR=1')
    .showHelpAfterError('(see --help)')
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: title => styleText('bold', title, { validateStream: false }),
    })
    // commander throws instead of exiting, so that pending output is written before the process ends.
    .exitOverride();
  const commands = selectCommands(name);
  for (const load of commands) addCommand(program, await load());
  if (commands.length > 1) await addCompletion(program);
  collectFaults(program);
  return program;
}

function selectCommands(name: string | undefined): readonly (() => Promise<Command>)[] {
  if (name === '--version' || name === '-V') return [];
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command ? [command] : Object.values(COMMANDS);
}

/** Adds `completion <shell>`, and the hidden command that the script of the shell calls. */
async function addCompletion(parent: Command): Promise<void> {
  const { default: addTo } = await import('@bomb.sh/tab/commander');
  const root = addTo(parent, { completionCommandName: 'completion' });
  const complete = parent.commands.find(command => command.name() === 'complete');
  complete?.hook('preAction', (_program, { args }) => keepOptionsOf(root, args));
  const completion = parent.commands.find(command => command.name() === 'completion');
  completion?.hook('preAction', (_program, { args: [shell] }) => {
    if (shell === 'bash') process.stdout.write(BASH_WORDS);
  });
}

/**
 * Keeps the options of the command that is being completed. The package looks an option up in all commands and takes the first:
 * after `tenant update --status` that of `migrate`, which has no value.
 */
function keepOptionsOf({ commands }: RootCommand, words: readonly string[]): void {
  const line = `${words.filter(word => !word.startsWith('-')).join(' ')} `;
  const names = [...commands.keys()].filter(name => line.startsWith(`${name} `));
  const longest = names.sort((a, b) => b.length - a.length)[0];
  for (const [name, { options }] of commands) if (name !== longest) options.clear();
}

/** The script for bash calls a function of the package bash-completion; a shell without it would get the top-level commands everywhere. */
const BASH_WORDS = `if ! declare -F _get_comp_words_by_ref > /dev/null; then
    _get_comp_words_by_ref() {
        cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]}
        words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
    }
fi
`;

/** Adds a command. It and its subcommands inherit the error handling of the program. */
function addCommand(parent: Command, command: Command): void {
  parent.addCommand(command);
  inheritSettings(parent, command);
}

function inheritSettings(parent: Command, command: Command): void {
  command.copyInheritedSettings(parent);
  for (const subcommand of command.commands) inheritSettings(command, subcommand);
}

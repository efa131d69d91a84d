import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander';

/**
 * Reports all faults of a command line at once; commander ends at the first one. Values that are invalid wait for the other checks
 * of commander, which happen before the action.
 */
export function collectFaults(program: Command): void {
  const faults: string[] = [];
  program.hook('preAction', (_program, command) => {
    const last = faults.pop();
    if (last !== undefined) command.error(last, { code: 'commander.invalidArgument' });
  });
  collectBelow(program, faults);
}

function collectBelow(command: Command, faults: string[]): void {
  for (const option of command.options) collectInvalid(option, `option '${option.flags}'`, faults);
  for (const argument of command.registeredArguments) collectInvalid(argument, `argument '${argument.name()}'`, faults);
  command.configureOutput({
    outputError: (text, write) => write([...faults.splice(0).map(line => `${line}\n`), all(command, text)].join('')),
  });
  for (const subcommand of command.commands) collectBelow(subcommand, faults);
}

function collectInvalid(target: Option | Argument, name: string, faults: string[]): void {
  const parse = target.parseArg;
  if (!parse) return;
  target.parseArg = <T>(value: string, previous: T): T => {
    try {
      return parse.call(target, value, previous) as T;
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      faults.push(`error: ${name} has the invalid value '${value}'. ${error.message}`);
      return previous;
    }
  };
}

/** commander names only the first option that is missing or unknown. */
function all(command: Command, text: string): string {
  if (text.startsWith('error: unknown option')) {
    const others = unknownOptions(command).slice(1);
    return [text, ...others.map(option => `error: unknown option '${option}'\n`)].join('');
  }
  if (!text.startsWith('error: required option')) return text;
  const missing = command.options.filter(
    option => option.mandatory && command.getOptionValue(option.attributeName()) === undefined,
  );
  const unknown = unknownOptions(command).map(option => `error: unknown option '${option}'\n`);
  return [...unknown, `error: required and not given: ${missing.map(({ flags }) => flags).join(', ')}\n`].join('');
}

/** What commander has not recognised, up to `--`. */
function unknownOptions({ args }: Command): readonly string[] {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).filter(word => /^--?[a-z]/i.test(word));
}

import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander';

/**
 * An invalid value that the command refuses too, together with faults that only the database shows. It is reported here only beside others,
 * with which the command does not run.
 */
export class RefusedByCommand extends InvalidArgumentError {}

interface Fault {
  readonly line: string;
  readonly isRefusedByCommand: boolean;
}

/**
 * Reports all faults of a command line at once, whereas commander stops at the first. Invalid values are collected until commander's
 * other checks are done, which run before the action.
 */
export function collectFaults(program: Command): void {
  const faults: Fault[] = [];
  program.hook('preAction', (_program, command) => {
    if (faults.every(({ isRefusedByCommand }) => isRefusedByCommand)) return;
    const last = faults.pop();
    if (last !== undefined) command.error(last.line, { code: 'commander.invalidArgument' });
  });
  collectBelow(program, faults);
}

function collectBelow(command: Command, faults: Fault[]): void {
  for (const option of command.options) collectInvalid(option, `option '${option.flags}'`, faults);
  for (const argument of command.registeredArguments) collectInvalid(argument, `argument '${argument.name()}'`, faults);
  command.configureOutput({
    outputError: (text, write) =>
      write([...faults.splice(0).map(({ line }) => `${line}\n`), withAllParts(command, text)].join('')),
  });
  for (const subcommand of command.commands) collectBelow(subcommand, faults);
}

function collectInvalid(target: Option | Argument, name: string, faults: Fault[]): void {
  const parse = target.parseArg;
  if (!parse) return;
  target.parseArg = <T>(value: string, previous: T): T => {
    try {
      return parse.call(target, value, previous) as T;
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      const isRefusedByCommand = error instanceof RefusedByCommand;
      faults.push({ line: `error: ${name} has the invalid value '${value}'. ${error.message}`, isRefusedByCommand });
      return isRefusedByCommand ? (value as T) : previous;
    }
  };
}

/** Messages of commander about missing, unknown or excess parts. */
const PART = /^error: (unknown option|required option|missing required argument|too many arguments)/;

/** Lists all missing, unknown and excess parts; commander's message names only the first. */
function withAllParts(command: Command, text: string): string {
  if (!PART.test(text)) return text;
  // Commander looks for them before it counts arguments, which may begin with a dash after `--`.
  const hasUnknown = /^error: (unknown|required) option/.test(text);
  const unknown = hasUnknown ? unknownOptions(command).map(option => `error: unknown option '${option}'`) : [];
  // Commander's text may suggest the right option.
  if (text.startsWith('error: unknown option')) unknown[0] = text.trimEnd();
  // After an unknown option a word may be its value.
  const isUnclear = unknown.length > 0;
  const missing = [...missingOptions(command), ...(isUnclear ? [] : missingArguments(command))];
  const lines = [
    ...unknown,
    ...(missing.length > 0 ? [`error: required and not given: ${missing.join(', ')}`] : []),
    ...(isUnclear ? [] : excessArguments(command).map(word => `error: unexpected argument '${word}'`)),
  ];
  return lines.map(line => `${line}\n`).join('');
}

const missingOptions = (command: Command): readonly string[] =>
  command.options
    .filter(option => option.mandatory && command.getOptionValue(option.attributeName()) === undefined)
    .map(({ flags }) => flags);

const missingArguments = ({ registeredArguments, args }: Command): readonly string[] =>
  registeredArguments.slice(args.length).flatMap(argument => (argument.required ? [`<${argument.name()}>`] : []));

const excessArguments = ({ registeredArguments, args }: Command): readonly string[] =>
  registeredArguments.at(-1)?.variadic ? [] : args.slice(registeredArguments.length);

/** Unrecognised options, up to `--`. */
function unknownOptions({ args }: Command): readonly string[] {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).filter(word => /^--?[a-z]/i.test(word));
}

import { readFile } from 'node:fs/promises';
import { styleText } from 'node:util';
import { CommanderError } from 'commander';
import { createProgram } from './cli/program.ts';
import { CodedError, type FieldErrors } from './core/errors.ts';
import { UserError } from './platform/user-error.ts';

/** Options whose names are not those of their fields. */
const SHORT_OPTIONS: Readonly<Record<string, string>> = { callsPerMinute: '--rate', scheduledAt: '--at' };

const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

// A UserError prints its message and sets the exit code; any other error is a bug and prints its stack.
try {
  if (process.argv.includes('--no-color')) (await import('./config.ts')).disableColors();
  const program = await createProgram(version, process.argv[2]);
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`${styleText('red', await messageOf(error), { stream: process.stderr })}\n`);
    process.exitCode = error instanceof UserError ? error.exitCode : 1;
  }
}

async function messageOf(error: unknown): Promise<string> {
  if (error instanceof CodedError) return fieldMessages(error);
  if (error instanceof UserError) return error.message;
  // Loaded for an error alone: it brings the database's driver.
  const { explain } = await import('./cli/explain.ts');
  const explained = explain(error);
  if (explained instanceof UserError) return explained.message;
  return String((error instanceof Error && error.stack) || error);
}

/** Validation messages do not contain the field name: it is prepended, as the option that has its value. */
function fieldMessages({ code, message, details }: CodedError): string {
  if (code !== 'VALIDATION_ERROR' || !details) return message;
  return Object.entries(details as FieldErrors)
    .map(([field, messages]) => `${optionOf(field)}: ${messages.join(' ')}`)
    .join('\n');
}

/** `--default-source` for `defaultSourceId`, if the command line has it; otherwise the field. */
function optionOf(field: string): string {
  const name =
    field
      .split('.')
      .at(-1)
      ?.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`) ?? '';
  const options = [`--${name}`, `--${name.replace(/-id$/, '')}`, `--${name.replace(/-at$/, '')}`, SHORT_OPTIONS[field]];
  return options.find(option => process.argv.some(word => word.split('=', 1)[0] === option)) ?? field;
}

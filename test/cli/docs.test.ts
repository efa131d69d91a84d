import { readdirSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';

const FILES = [
  'README.md',
  ...readdirSync('docs')
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
];

/** Commands in inline code and in shell blocks: `parley …`, `node dist/launch.js …`. */
function writtenIn(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => block.split('\n'));
  const inline = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [...blocks, ...inline].flatMap(line => {
    const [, command] =
      /^(?:parley|npx parley|node dist\/launch\.js) ([a-z][^#]*?)(?: [&\\]?[|&].*)?(?:\s{2,}.*)?$/.exec(line.trim()) ??
      [];
    return command === undefined ? [] : [command];
  });
}

/** What does not exist of a command as it is written; `add|list|remove` are three. */
function unknownOf(program: Command, written: string): string[] {
  let commands: readonly Command[] = [program];
  const unknown: string[] = [];
  for (const word of written.split(' ')) {
    const [option] = /^\[?(--[a-z-]+)/.exec(word)?.slice(1) ?? [];
    if (option !== undefined) {
      const isKnown = commands.every(command => command.options.some(({ long }) => long === option));
      if (!isKnown) unknown.push(option);
    } else if (/^[a-z|-]+$/.test(word) && commands.some(command => command.commands.length > 0)) {
      const below = word.split('|').map(name => commands[0]?.commands.find(command => command.name() === name));
      const found = below.filter(command => command !== undefined);
      // `lanes` lists, and has a command below it.
      if (found.length < below.length) unknown.push(word);
      else commands = found;
    }
  }
  return unknown;
}

test('every command and option that the documentation names exists', async () => {
  const program = await createProgram('0.0.0');
  const written = FILES.flatMap(file => writtenIn(file).map(command => ({ file, command })));
  expect(written.length).toBeGreaterThan(60);
  expect(
    written
      .map(({ file, command }) => ({ file, command, unknown: unknownOf(program, command) }))
      .filter(({ unknown }) => unknown.length > 0),
  ).toEqual([]);
});

test('the documentation names every command', async () => {
  const program = await createProgram('0.0.0');
  const written = FILES.flatMap(writtenIn).map(command => command.split(' ')[0]);
  const hidden = ['complete', 'help'];
  const names = program.commands.map(command => command.name()).filter(name => !hidden.includes(name));
  expect(names.filter(name => !written.includes(name))).toEqual([]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Top-level declarations of a file. */
interface Declaration {
  readonly name: string;
  readonly isExported: boolean;
  readonly text: string;
}

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts'))
    .map(path => join(directory, path));

const declarationsOf = (text: string): Declaration[] =>
  text.split(/^(?=(?:export )?(?:async )?(?:function|const|class) )/m).flatMap(part => {
    const [, isExported, name] = /^(export )?(?:async )?(?:function|const|class) (\w+)/.exec(part) ?? [];
    return name === undefined ? [] : [{ name, isExported: isExported !== undefined, text: part }];
  });

/** A statement written as text. What the builder composes is typed by the tables instead. */
const sendsText = ({ text }: Declaration): boolean => /`\s*\.execute\(|\.executeQuery\(/.test(text);

/** The exported functions of a file that send such a statement, themselves or by a private function of the file. */
function statementsOf(path: string): string[] {
  const declarations = declarationsOf(readFileSync(path, 'utf8'));
  const inner = declarations.filter(one => !one.isExported && sendsText(one)).map(({ name }) => name);
  return declarations
    .filter(one => one.isExported)
    .filter(one => sendsText(one) || inner.some(name => new RegExp(`\\b${name}\\b`).test(one.text)))
    .map(({ name }) => name);
}

test('every statement that is written as text is described by the database in a test', () => {
  const described = filesBelow('test')
    .map(path => readFileSync(path, 'utf8'))
    .filter(text => /from '.*\/describe-statement\.ts'/.test(text))
    .join('\n');
  const forgotten = ['src/features', 'src/events', 'src/lanes'].flatMap(filesBelow).flatMap(path =>
    statementsOf(path)
      // Once where it is imported, and once where it is used.
      .filter(name => (described.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length < 2)
      .map(name => `${path}: ${name}`),
  );
  expect(forgotten).toEqual([]);
});

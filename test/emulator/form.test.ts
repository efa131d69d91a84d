import { expect, test } from 'vitest';
import { FormError, readForm } from '../../src/emulator/form.ts';

const TYPE = 'multipart/form-data; boundary=x';
const FILE =
  '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\nhello\r\n';
const FIELD = '--x\r\ncontent-disposition: form-data; name="type"\r\n\r\ntext/plain\r\n';

async function* body(...pieces: readonly string[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

async function readAll(source: AsyncIterable<Buffer>, type = TYPE) {
  const files: string[] = [];
  const fields = await readForm(source, type, async file => {
    let text = '';
    for await (const piece of file.bytes) text += piece.toString();
    files.push(`${file.name} ${file.filename} ${file.type} ${text}`);
  });
  return { files, fields };
}

test('files and fields are read in any order', async () => {
  const wanted = { files: ['file a.txt text/plain hello'], fields: new Map([['type', 'text/plain']]) };
  expect(await readAll(body(FILE, FIELD, '--x--\r\n'))).toEqual(wanted);
  expect(await readAll(body(FIELD, FILE, '--x--\r\n'))).toEqual(wanted);
});

test.each([
  ['that ends within a file', [FILE.slice(0, -4)]],
  ['without a closing boundary', [FILE, FIELD]],
  ['that is empty', []],
  [
    'with a field over 64 KB',
    ['--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n', 'a'.repeat(70_000), '\r\n--x--'],
  ],
])('a form %s is refused', async (_name, pieces) => {
  await expect(readAll(body(...pieces))).rejects.toThrow(FormError);
});

test.each(['application/json', 'multipart/form-data', ''])('a body of the type "%s" is refused', async type => {
  await expect(readAll(body(FILE, '--x--'), type)).rejects.toThrow(FormError);
});

test('an error of the body, and of the reader of a file, is thrown as it is', async () => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from(FILE.slice(0, -4));
    throw new RangeError('broken');
  }
  await expect(readAll(broken())).rejects.toThrow(new RangeError('broken'));
  const refuse = (): Promise<void> => Promise.reject(new RangeError('unexpected'));
  const large = body(FILE.slice(0, -7), ...Array.from({ length: 100 }, () => 'a'.repeat(64 * 1024)));
  await expect(readForm(large, TYPE, refuse)).rejects.toThrow(new RangeError('unexpected'));
});

import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openKept } from '../../../../../src/features/messages/content/media/open-kept.ts';
import type { ByteRange } from '../../../../../src/platform/files/file-store.ts';

const filesOf = (bytes: Buffer) => ({
  open: async (_key: string, range: ByteRange | undefined) =>
    Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes]),
});

/** RFC 9110 §14.1.2 for one range. @returns undefined if it is not satisfiable */
function expected(size: number, first: number | undefined, last: number | undefined): [number, number] | undefined {
  const start = first ?? Math.max(0, size - (last ?? 0));
  const end = first === undefined || last === undefined ? size - 1 : Math.min(last, size - 1);
  return start < size && start <= end ? [start, end] : undefined;
}

const content = fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes));
const place = fc.option(fc.nat(400), { nil: undefined });

test('a range returns exactly the bytes that RFC 9110 defines, or 416 with the size', async () => {
  await fc.assert(
    fc.asyncProperty(content, place, place, async (bytes, first, last) => {
      fc.pre(first !== undefined || last !== undefined);
      fc.pre(first === undefined || last === undefined || first <= last);
      const opened = await openKept(filesOf(bytes), 'key', bytes.length, `bytes=${first ?? ''}-${last ?? ''}`);
      const range = expected(bytes.length, first, last);
      if (!range) {
        expect(opened).toMatchObject({ status: 416, contentRange: `bytes */${bytes.length}` });
        return;
      }
      const [start, end] = range;
      expect(opened).toMatchObject({
        status: 206,
        contentLength: String(end - start + 1),
        contentRange: `bytes ${start}-${end}/${bytes.length}`,
      });
      if (opened) expect((await buffer(opened.stream)).equals(bytes.subarray(start, end + 1))).toBe(true);
    }),
  );
});

test('any other header returns the whole file or 416, never other bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      content,
      fc.oneof(fc.string(), fc.stringMatching(/^bytes=[\d, -]{0,12}$/)),
      async (bytes, header) => {
        const opened = await openKept(filesOf(bytes), 'key', bytes.length, header);
        expect([200, 206, 416]).toContain(opened?.status);
        if (!opened) return;
        const found = await buffer(opened.stream);
        if (opened.status === 200) expect(found.equals(bytes)).toBe(true);
        if (opened.status === 206) {
          const [, start = '', end = ''] = /^bytes (\d+)-(\d+)\//.exec(opened.contentRange ?? '') ?? [];
          expect(found.equals(bytes.subarray(Number(start), Number(end) + 1))).toBe(true);
          expect(opened.contentLength).toBe(String(found.length));
        }
      },
    ),
  );
});

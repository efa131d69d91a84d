import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HEAD_BYTES, sniff } from '../../../../../src/features/messages/content/media/sniff.ts';
import {
  compoundFileCheck,
  type StreamCheck,
  textCheck,
  zipCheck,
} from '../../../../../src/features/messages/content/media/stream-check.ts';
import type { MediaType } from '../../../../../src/network/network.ts';
import * as files from './files.ts';

interface Said {
  readonly filename?: string;
  readonly mimeType?: string;
  readonly kind?: MediaType;
}

/** The detected format of a file, checked like an upload, or the reason for its rejection. */
async function judged(file: Buffer, { filename = '', mimeType = '', kind }: Said = {}): Promise<string> {
  const verdict = await sniff(file.subarray(0, HEAD_BYTES), {
    filename: filename || null,
    mimeType: mimeType || null,
    kind: kind ?? null,
  });
  if ('fault' in verdict) return verdict.fault;
  return watched(verdict.check, file) ?? verdict.format.mimeType;
}

function watched(check: StreamCheck | undefined, file: Buffer, cut = 1_000): string | undefined {
  if (!check) return undefined;
  for (let at = 0; at < file.length; at += cut) {
    const fault = check.add(file.subarray(at, at + cut));
    if (fault !== undefined) return fault;
  }
  return check.end();
}

describe('the content determines the format of a file', () => {
  test('a file of another format is told each one that is accepted, once', async () => {
    const [, list = ''] = /a file must be (.*)\.$/.exec(await judged(Buffer.from('just words'))) ?? [];
    const formats = list.split(', ');
    expect(formats).toEqual([...new Set(formats)]);
    expect(formats).toEqual(expect.arrayContaining(['JPEG', 'WebP', '3GP', 'Ogg (Opus)', 'AAC', 'CSV']));
  });

  test.each([
    ['image/jpeg', files.JPEG, {}],
    ['image/png', files.PNG, {}],
    ['image/webp', files.WEBP, {}],
    ['video/mp4', files.MP4, {}],
    ['video/3gpp', files.THREE_GP, {}],
    ['audio/mpeg', files.MP3, {}],
    ['audio/ogg', files.OPUS, {}],
    ['audio/amr', files.AMR, {}],
    ['audio/aac', files.AAC, {}],
    ['audio/mp4', files.M4A, {}],
    ['application/pdf', files.PDF, {}],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', files.DOCX, {}],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', files.XLSX, {}],
    ['application/vnd.openxmlformats-officedocument.presentationml.presentation', files.PPTX, {}],
    [
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      files.LATE_DOCX,
      { filename: 'a.docx' },
    ],
    ['application/msword', files.compound('WordDocument'), {}],
    ['application/vnd.ms-excel', files.compound('Workbook'), {}],
    ['application/vnd.ms-powerpoint', files.compound('PowerPoint Document'), {}],
    ['application/msword', files.compound('WordDocument', 300_000), { filename: 'a.doc' }],
    ['application/msword', files.compound('WordDocument', 300_000), { mimeType: 'application/msword' }],
    ['text/plain', Buffer.from('Grüße\r\n\tan alle\n'), { filename: 'a.txt' }],
    ['text/plain', Buffer.from('\ufeffMZ und BM sind auch nur Text'), { filename: 'A.TXT' }],
    ['text/plain', Buffer.from('MZ is a place'), { filename: 'a.txt' }],
    ['text/csv', Buffer.from('name;town\nAna;Köln\n'), { filename: 'a.csv' }],
    ['text/csv', Buffer.from('a,b'), { mimeType: 'text/csv; charset=utf-8' }],
  ] as const)('%s', async (type, file, said) => {
    expect(await judged(file, said)).toBe(type);
  });

  test.each([
    ['photo.jpg', 'image/jpeg', 'image', files.JPEG],
    ['photo.JPEG', '', 'image', files.JPEG],
    ['no-ending', 'application/octet-stream', undefined, files.PDF],
    ['archive.2024', '', undefined, files.PDF],
    ['voice.opus', '', 'audio', files.OPUS],
    ['voice.ogg', '', 'audio', files.OPUS],
    ['lies.pdf', 'image/png', 'document', files.PDF],
  ] as const)('%s, whatever type is declared for it', async (filename, mimeType, kind, file) => {
    expect(await judged(file, { filename, mimeType, ...(kind && { kind }) })).toMatch(/^\w+\/[\w.-]+$/);
  });
});

describe('a file of another format with the extension jpg is rejected', () => {
  const disguised = { filename: 'photo.jpg', mimeType: 'image/jpeg' };
  test.each([
    ['a PDF', files.PDF, /PDF document/],
    ['a PNG', files.PNG, /PNG image/],
    ['a GIF', files.GIF, /image\/gif/],
    ['an MP4', files.MP4, /MP4 video/],
    ['a program', files.EXE, /The file is application/],
    ['an archive', files.ZIP, /application\/zip/],
    ['a Word document', files.DOCX, /Word document/],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), /cannot be determined/],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /cannot be determined|svg|xml/],
    ['a text', Buffer.from('just words'), /cannot be determined/],
    ['noise', Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 97 + 13) % 251)), /cannot be determined/],
  ])('%s', async (_what, file, words) => {
    for (const kind of [undefined, 'image'] as const) {
      expect(await judged(file, { ...disguised, ...(kind && { kind }) })).toMatch(words);
    }
  });
});

describe('is refused', () => {
  test.each([
    ['an image that is to be a document', files.JPEG, { kind: 'document' }, /JPEG image: a document must be PDF/],
    ['a video that is to be audio', files.MP4, { kind: 'audio' }, /MP4 video: an audio file must be/],
    ['QuickTime', files.QUICKTIME, { filename: 'a.mp4' }, /video\/quicktime/],
    ['an archive under the name of a document', files.ZIP, { filename: 'a.docx' }, /not a Word document/],
    ['a workbook under the name of a document', files.XLSX, { filename: 'a.docx' }, /Excel workbook, but/],
    ['an installer named as a document', files.compound('Installer'), { filename: 'a.doc' }, /not a Word document/],
    ['a compound file of no known name', files.compound('Installer'), {}, /application\/x-cfb/],
    ['a text with a NUL', Buffer.from('a\0b'), { filename: 'a.txt' }, /cannot be determined/],
    ['a text that is not UTF-8', Buffer.from('Gr\xfc\xdfe', 'latin1'), { filename: 'a.txt' }, /cannot be determined/],
    ['a text that ends within a character', Buffer.from('Gr\xc3', 'latin1'), { filename: 'a.txt' }, /not a text/],
    [
      'a binary file whose head is text',
      Buffer.concat([Buffer.alloc(200_000, 'a'), files.EXE]),
      { filename: 'a.csv' },
      /not a text/,
    ],
  ] as const)('%s', async (_what, file, said, words) => {
    expect(await judged(file, said)).toMatch(words);
  });
});

test('a text is recognized in chunks of any size', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 7 }), (text, cut) => {
      const clean = text.replace(/\p{Cc}/gu, ' ').toWellFormed();
      expect(watched(textCheck(), Buffer.from(clean), cut)).toBeUndefined();
    }),
  ));

test('marks are found at any place and in chunks of any size', () =>
  fc.assert(
    fc.property(fc.nat(2_000), fc.integer({ min: 1, max: 700 }), (before, cut) => {
      const archive = files.zip({ 'a.bin': Buffer.alloc(before, 7), 'word/document.xml': 'x' });
      expect(watched(zipCheck('word/', 'none'), archive, cut)).toBeUndefined();
      expect(watched(zipCheck('xl/', 'none'), archive, cut)).toBe('none');
      const file = files.compound('Workbook', before);
      expect(watched(compoundFileCheck('Workbook', 'none'), file, cut)).toBeUndefined();
      expect(watched(compoundFileCheck('WordDocument', 'none'), file, cut)).toBe('none');
    }),
    { numRuns: 50 },
  ));

test('marks at other places do not make a file a document', () => {
  const archive = files.zip({ 'a.txt': 'word/document.xml' });
  expect(watched(zipCheck('word/', 'none'), archive)).toBe('none');
});

test('arbitrary content causes no error', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.values(files).filter(Buffer.isBuffer)),
      fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { maxLength: 8 }),
      fc.nat(500),
      async (file, changes, length) => {
        const head = Buffer.from(file.subarray(0, length));
        for (const [at, value] of changes) if (at < head.length) head[at] = value;
        const verdict = await sniff(head, { filename: 'a.docx', mimeType: null, kind: null });
        expect('fault' in verdict || 'format' in verdict).toBe(true);
      },
    ),
  ));

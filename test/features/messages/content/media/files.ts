import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Minimal files of each format; `padded` makes them larger. */

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

export const JPEG = Buffer.concat([
  bytes('\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00'),
  bytes('\xff\xd9'),
]);
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** As far as its header: the flag of an animation. */
export const ANIMATED_WEBP = bytes(
  'RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00',
);
export const WEBP = bytes(
  'RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00',
);
export const GIF = bytes('GIF89a\x01\x00\x01\x00\x00\x00\x00;');
export const PDF = bytes('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n');
export const MP4 = bytes('\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2\x00\x00\x00\x08mdat');
export const THREE_GP = bytes('\x00\x00\x00\x18ftyp3gp5\x00\x00\x02\x003gp5isom\x00\x00\x00\x08mdat');
export const QUICKTIME = bytes('\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  \x00\x00\x00\x08mdat');
export const M4A = bytes('\x00\x00\x00\x18ftypM4A \x00\x00\x02\x00M4A isom\x00\x00\x00\x08mdat');
export const MP3 = bytes('ID3\x04\x00\x00\x00\x00\x00\x0a0123456789\xff\xfb\x90\x00');
export const AAC = bytes('\xff\xf1\x50\x80\x00\x1f\xfc');
export const AMR = bytes('#!AMR\n\x3c');
export const OPUS = Buffer.concat([bytes('OggS\x00\x02'), Buffer.alloc(20), bytes('\x01\x13OpusHead\x01\x01')]);
export const EXE = Buffer.concat([bytes('MZ\x90\x00\x03'), Buffer.alloc(200)]);

/** A ZIP archive of entries that are not compressed (APPNOTE 4.3). */
export function zip(entries: Readonly<Record<string, Buffer | string>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const data = Buffer.from(content);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([bytes('PK\x03\x04'), fields, bytes(name), data]);
    const at = Buffer.alloc(14);
    at.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([bytes('PK\x01\x02\x14\x00'), fields, at, bytes(name)]));
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, central, bytes('PK\x05\x06'), end]);
}

const contentTypes = (type: string): string =>
  `<?xml version="1.0"?><Types><Override ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`;

export const DOCX = zip({
  '[Content_Types].xml': contentTypes('wordprocessingml.document'),
  'word/document.xml': '<w:document/>',
});
export const XLSX = zip({ '[Content_Types].xml': contentTypes('spreadsheetml.sheet'), 'xl/workbook.xml': '<x/>' });
export const PPTX = zip({
  '[Content_Types].xml': contentTypes('presentationml.presentation'),
  'ppt/presentation.xml': '<p/>',
});
/** A file whose format does not show in its first hundreds of kilobytes. */
export const LATE_DOCX = zip({
  'media/picture.bin': randomBytes(400_000),
  'word/document.xml': '<w:document/>',
  '[Content_Types].xml': contentTypes('wordprocessingml.document'),
});
export const ZIP = zip({ 'readme.txt': 'nothing special' });

/** A compound file ([MS-CFB]) with one stream, whose directory stands behind `before` bytes. */
export function compound(stream: string, before = 0): Buffer {
  const header = Buffer.alloc(512);
  bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1').copy(header);
  const entry = (name: string) => {
    const row = Buffer.alloc(128);
    row.write(name, 'utf16le');
    return row;
  };
  return Buffer.concat([
    header,
    Buffer.alloc(Math.ceil(before / 512) * 512, 1),
    entry('Root Entry'),
    entry(stream),
    Buffer.alloc(256),
  ]);
}

/** The file with zeros behind it. */
export const padded = (file: Buffer, size: number): Buffer => Buffer.concat([file, Buffer.alloc(size - file.length)]);

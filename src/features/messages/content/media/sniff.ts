import { fileTypeFromBuffer } from 'file-type/core';
import type { MediaType } from '../../../../network/network.ts';
import { ALLOWED, contradicts, extensionOf, FORMATS, type Format } from './formats.ts';
import { compoundFileCheck, type StreamCheck, textCheck, zipCheck } from './stream-check.ts';

/** The head of a file that is examined before its transfer. */
export const HEAD_BYTES = 64 * 1024;

/** The declared name and type of a file, used only to tell formats with the same signature apart. */
export interface Declared {
  readonly filename: string | null;
  readonly mimeType: string | null;
  readonly kind: MediaType | null;
}

/** The format of a file and its check during the transfer, or why it cannot be sent. */
export type Verdict = { readonly format: Format; readonly check?: StreamCheck } | { readonly fault: string };

/** Formats by the extensions that `file-type` returns. */
const FOUND: Readonly<Record<string, Format>> = {
  jpg: FORMATS.jpeg,
  png: FORMATS.png,
  apng: FORMATS.png,
  webp: FORMATS.webp,
  mp4: FORMATS.mp4,
  '3gp': FORMATS.threeGp,
  mp3: FORMATS.mp3,
  ogg: FORMATS.ogg,
  opus: FORMATS.ogg,
  amr: FORMATS.amr,
  aac: FORMATS.aac,
  m4a: FORMATS.m4a,
  pdf: FORMATS.pdf,
  docx: FORMATS.docx,
  xlsx: FORMATS.xlsx,
  pptx: FORMATS.pptx,
};

type Marked = readonly (readonly [format: Format, check: () => StreamCheck])[];

/** Archives and compound files, whose format shows inside, possibly at their end. */
const ZIPPED: Marked = [
  [FORMATS.docx, () => zipCheck('word/', 'The archive is not a Word document.')],
  [FORMATS.xlsx, () => zipCheck('xl/', 'The archive is not an Excel workbook.')],
  [FORMATS.pptx, () => zipCheck('ppt/', 'The archive is not a PowerPoint presentation.')],
];
const COMPOUND: Marked = [
  [FORMATS.doc, () => compoundFileCheck('WordDocument', 'The file is not a Word document.')],
  [FORMATS.xls, () => compoundFileCheck('Workbook', 'The file is not an Excel workbook.')],
  [FORMATS.ppt, () => compoundFileCheck('PowerPoint Document', 'The file is not a PowerPoint presentation.')],
];
const TEXTS: Marked = [
  [FORMATS.txt, textCheck],
  [FORMATS.csv, textCheck],
];

/**
 * Determines the format of a file by its content.
 * @param head the first `HEAD_BYTES`, or the whole file
 */
export async function sniff(head: Uint8Array, declared: Declared): Promise<Verdict> {
  // A truncated file cannot be identified by the library.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  const known = found && (found.ext === 'webp' && declared.kind === 'sticker' ? stickerOf(head) : FOUND[found.ext]);
  const verdict = known ? { format: known } : inside(head, declared, found?.ext);
  if (!verdict) return { fault: unknown(found?.mime, declared) };
  const { format } = verdict;
  if (declared.kind !== null && declared.kind !== format.kind)
    return { fault: `The file is ${format.title}: ${article(declared.kind)} must be ${ALLOWED[declared.kind]}.` };
  if (contradicts(declared.filename, format))
    return { fault: `The file is ${format.title}, but its name ends in .${extensionOf(declared.filename)}.` };
  return verdict;
}

/** WebP: the second bit of the flags of a `VP8X` chunk, the first of its file, says that it is animated. */
function stickerOf(head: Uint8Array): Format {
  const isExtended = Buffer.from(head.subarray(12, 16)).toString('latin1') === 'VP8X';
  return isExtended && ((head[20] ?? 0) & 0x02) !== 0 ? FORMATS.animatedSticker : FORMATS.sticker;
}

function inside(head: Uint8Array, declared: Declared, found: string | undefined) {
  const start = Buffer.from(head.subarray(0, 4)).toString('latin1');
  if (found === 'zip' || (found === undefined && start === 'PK\x03\x04'))
    return shown(ZIPPED, head) ?? named(ZIPPED, declared);
  if (found === 'cfb') return shown(COMPOUND, head) ?? named(COMPOUND, declared);
  // The library identifies bitmaps and programs by two letters, with which a text may also begin.
  const text = named(TEXTS, declared);
  return text && textCheck().add(head) === undefined ? text : undefined;
}

/** The format that the head alone shows. */
function shown(formats: Marked, head: Uint8Array): { format: Format } | undefined {
  const entry = formats.find(([, watchOf]) => {
    const check = watchOf();
    check.add(head);
    return check.end() === undefined;
  });
  return entry && { format: entry[0] };
}

/** The declared format, to be checked during the transfer. */
function named(formats: Marked, { filename, mimeType }: Declared): { format: Format; check: StreamCheck } | undefined {
  const type = mimeType?.split(';', 1)[0]?.trim().toLowerCase();
  const extension = extensionOf(filename);
  const entry =
    formats.find(([{ extensions }]) => extensions.includes(extension)) ??
    formats.find(([format]) => format.mimeType === type);
  return entry && { format: entry[0], check: entry[1]() };
}

/** Images and stickers are both WebP. */
const EVERY_FORMAT = [...new Set(Object.values(ALLOWED).flatMap(formats => formats.split(/, | or /)))].join(', ');

const article = (kind: MediaType): string => (kind === 'image' || kind === 'audio' ? `an ${kind} file` : `a ${kind}`);

function unknown(mime: string | undefined, { kind }: Declared): string {
  const what =
    mime === undefined ? 'The type of the file cannot be determined from its content' : `The file is ${mime}`;
  const allowed = kind === null ? EVERY_FORMAT : ALLOWED[kind];
  return `${what}: ${kind === null ? 'a file' : article(kind)} must be ${allowed}.`;
}

import { fileTypeFromBuffer } from 'file-type/core';
import type { MediaType } from '../../network/network.ts';
import { ALLOWED, contradicts, extensionOf, FORMATS, type Format } from './formats.ts';
import { compoundWatch, textWatch, type Watch, zipWatch } from './watch.ts';

/** So much of a file is looked at before it goes anywhere. */
export const HEAD_BYTES = 64 * 1024;

/** What is said of a file. It decides nothing but between formats that look alike. */
export interface Declared {
  readonly filename: string | null;
  readonly mimeType: string | null;
  readonly kind: MediaType | null;
}

/** What a file is, and what has to be watched for while it goes by; or why it cannot be sent. */
export type Verdict = { readonly format: Format; readonly watch?: Watch } | { readonly fault: string };

/** By the endings of the library that reads magic numbers. */
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

type Marked = readonly (readonly [format: Format, watch: () => Watch])[];

/** Archives and compound files: what they are shows inside, maybe only at their end. */
const ZIPPED: Marked = [
  [FORMATS.docx, () => zipWatch('word/', 'The archive is no Word document.')],
  [FORMATS.xlsx, () => zipWatch('xl/', 'The archive is no Excel workbook.')],
  [FORMATS.pptx, () => zipWatch('ppt/', 'The archive is no PowerPoint presentation.')],
];
const COMPOUND: Marked = [
  [FORMATS.doc, () => compoundWatch('WordDocument', 'The file is no Word document.')],
  [FORMATS.xls, () => compoundWatch('Workbook', 'The file is no Excel workbook.')],
  [FORMATS.ppt, () => compoundWatch('PowerPoint Document', 'The file is no PowerPoint presentation.')],
];
const TEXTS: Marked = [
  [FORMATS.txt, textWatch],
  [FORMATS.csv, textWatch],
];

/**
 * Says by its content what a file is.
 * @param head the first `HEAD_BYTES` of it, or all
 */
export async function sniff(head: Uint8Array, declared: Declared): Promise<Verdict> {
  // A file that is cut off where it is looked into is one that the library cannot tell.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  const known = found && FOUND[found.ext];
  const verdict = known ? { format: known } : inside(head, declared, found?.ext);
  if (!verdict) return { fault: unknown(found?.mime, declared) };
  const { format } = verdict;
  if (declared.kind !== null && declared.kind !== format.kind)
    return { fault: `The file is ${format.title}: ${article(declared.kind)} must be ${ALLOWED[declared.kind]}.` };
  if (contradicts(declared.filename, format))
    return { fault: `The file is ${format.title}, but its name ends in .${extensionOf(declared.filename)}.` };
  return verdict;
}

function inside(head: Uint8Array, declared: Declared, found: string | undefined) {
  const start = Buffer.from(head.subarray(0, 4)).toString('latin1');
  if (found === 'zip' || (found === undefined && start === 'PK\x03\x04'))
    return shown(ZIPPED, head) ?? named(ZIPPED, declared);
  if (found === 'cfb') return shown(COMPOUND, head) ?? named(COMPOUND, declared);
  // Two letters at the start of a text make it a bitmap or a program to the library: where all of it is text, it is one.
  const text = named(TEXTS, declared);
  return text && textWatch().add(head) === undefined ? text : undefined;
}

/** What the head alone shows. */
function shown(formats: Marked, head: Uint8Array): { format: Format } | undefined {
  const entry = formats.find(([, watchOf]) => {
    const watch = watchOf();
    watch.add(head);
    return watch.end() === undefined;
  });
  return entry && { format: entry[0] };
}

/** What the file is said to be, to be seen to while it goes by. */
function named(formats: Marked, { filename, mimeType }: Declared): { format: Format; watch: Watch } | undefined {
  const type = mimeType?.split(';', 1)[0]?.trim().toLowerCase();
  const extension = extensionOf(filename);
  const entry =
    formats.find(([{ extensions }]) => extensions.includes(extension)) ??
    formats.find(([format]) => format.mimeType === type);
  return entry && { format: entry[0], watch: entry[1]() };
}

const article = (kind: MediaType): string => (kind === 'image' || kind === 'audio' ? `an ${kind} file` : `a ${kind}`);

function unknown(mime: string | undefined, { kind }: Declared): string {
  const what = mime === undefined ? 'What the file is cannot be told from its content' : `The file is ${mime}`;
  const allowed = kind === null ? Object.values(ALLOWED).join(', ').replaceAll(' or ', ', ') : ALLOWED[kind];
  return `${what}: ${kind === null ? 'a file' : article(kind)} must be ${allowed}.`;
}

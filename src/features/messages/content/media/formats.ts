import type { MediaType } from '../../../../network/network.ts';

/** Limits of the network by kind (cloud-api §5). */
export const MAX_BYTES: Readonly<Record<MediaType, number>> = {
  image: 5 * 1024 * 1024,
  video: 16 * 1024 * 1024,
  audio: 16 * 1024 * 1024,
  document: 100 * 1024 * 1024,
  sticker: 500 * 1024,
};

/** A file format that can be sent. */
export interface Format {
  readonly kind: MediaType;
  /** In an error: "The file is a PDF document." */
  readonly title: string;
  readonly mimeType: string;
  /** Valid file extensions; the first is the default. */
  readonly extensions: readonly [string, ...string[]];
  /** The type to declare to the network if it does not know `mimeType`. */
  readonly uploadType?: string;
  /** In bytes, if it is lower than that of the kind. */
  readonly maxBytes?: number;
}

const format = (kind: MediaType, title: string, mimeType: string, ...extensions: [string, ...string[]]): Format => ({
  kind,
  title,
  mimeType,
  extensions,
});

const OFFICE = 'application/vnd.openxmlformats-officedocument';

export const FORMATS = {
  jpeg: format('image', 'a JPEG image', 'image/jpeg', 'jpg', 'jpeg', 'jpe', 'jfif'),
  png: format('image', 'a PNG image', 'image/png', 'png'),
  webp: format('image', 'a WebP image', 'image/webp', 'webp'),
  sticker: { ...format('sticker', 'a still WebP image', 'image/webp', 'webp'), maxBytes: 100 * 1024 },
  animatedSticker: format('sticker', 'an animated WebP image', 'image/webp', 'webp'),
  mp4: format('video', 'an MP4 video', 'video/mp4', 'mp4', 'm4v'),
  threeGp: format('video', 'a 3GP video', 'video/3gpp', '3gp', '3gpp'),
  mp3: format('audio', 'MP3 audio', 'audio/mpeg', 'mp3', 'mpga'),
  ogg: format('audio', 'Ogg audio', 'audio/ogg', 'ogg', 'oga', 'opus'),
  amr: format('audio', 'AMR audio', 'audio/amr', 'amr'),
  aac: format('audio', 'AAC audio', 'audio/aac', 'aac'),
  m4a: format('audio', 'AAC audio in MP4', 'audio/mp4', 'm4a', 'mp4', 'aac'),
  pdf: format('document', 'a PDF document', 'application/pdf', 'pdf'),
  doc: format('document', 'a Word document', 'application/msword', 'doc', 'dot'),
  xls: format('document', 'an Excel workbook', 'application/vnd.ms-excel', 'xls', 'xlt'),
  ppt: format('document', 'a PowerPoint presentation', 'application/vnd.ms-powerpoint', 'ppt', 'pps', 'pot'),
  docx: format('document', 'a Word document', `${OFFICE}.wordprocessingml.document`, 'docx'),
  xlsx: format('document', 'an Excel workbook', `${OFFICE}.spreadsheetml.sheet`, 'xlsx'),
  pptx: format('document', 'a PowerPoint presentation', `${OFFICE}.presentationml.presentation`, 'pptx'),
  txt: format('document', 'a text', 'text/plain', 'txt', 'text', 'log'),
  // The network does not list text/csv, so it is uploaded as text; the file keeps its name.
  csv: { ...format('document', 'a CSV table', 'text/csv', 'csv'), uploadType: 'text/plain' },
} as const satisfies Record<string, Format>;

/** The formats of each kind, for errors and descriptions. */
export const ALLOWED: Readonly<Record<MediaType, string>> = {
  image: 'JPEG, PNG or WebP',
  video: 'MP4 or 3GP',
  audio: 'MP3, Ogg (Opus), AMR or AAC',
  document: 'PDF, DOC, DOCX, XLS, XLSX, PPT, PPTX, TXT or CSV',
  sticker: 'WebP',
};

/** The extension of a file name in lower case, without the dot; '' if there is none. */
export const extensionOf = (filename: string | null): string =>
  /\.([a-z0-9]{1,8})$/i.exec(filename ?? '')?.[1]?.toLowerCase() ?? '';

const EXTENSIONS: ReadonlySet<string> = new Set(Object.values(FORMATS).flatMap(({ extensions }) => extensions));

/** Whether the file extension belongs to another format. Unknown extensions are ignored. */
export function contradicts(filename: string | null, { extensions }: Format): boolean {
  const extension = extensionOf(filename);
  return EXTENSIONS.has(extension) && !extensions.includes(extension);
}

/** 5 MB, 100 MB, 500 KB. */
export const sizeOf = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / (1024 * 1024)} MB`;

import type { Readable } from 'node:stream';
import type { Sharp, SharpOptions } from 'sharp';

/** Widths that are made, in pixels: few, so that nobody fills the store with all others. */
export const WIDTHS = [160, 320, 640, 1280] as const;
export type Width = (typeof WIDTHS)[number];
export const MAX_WIDTH = 1280;

/** The smallest width that is made and not narrower. */
export const widthFor = (pixels: number): Width => WIDTHS.find(width => width >= pixels) ?? MAX_WIDTH;

/** Larger files are shown as they are: the network takes pictures of at most 5 MB. */
const MAX_BYTES = 16 * 1_024 * 1_024;
/**
 * A small file may claim to be a huge picture. 25 megapixels are 100 MB while one is decoded; the network makes pictures of at most
 * 16.
 */
const MAX_PIXELS = 25_000_000;
const TIMEOUT_SECONDS = 5;
const QUALITY = 75;

/** The loaders of the formats that the network knows. All others are switched off: they would only be a way to attack the decoder. */
const LOADERS = ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'];

export type Shrink = (picture: Buffer, width: Width) => Promise<Buffer>;

/** Loaded when the first picture is shown: libvips takes 20 MB of memory. @throws if this platform has no build of it */
export async function loadShrink(): Promise<Shrink> {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  sharp.cache(false);
  // One thread a picture: how many are made at once is limited by the caller.
  sharp.concurrency(1);
  const options: SharpOptions = { limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn: 'error' };
  return (picture, width) => webp(sharp(picture, options), width);
}

/** Rotated by its EXIF orientation, then stripped of EXIF, which may contain the location. Of a moving picture: its first frame. */
const webp = (image: Sharp, width: Width): Promise<Buffer> =>
  image
    .autoOrient()
    .resize({ width, withoutEnlargement: true })
    .webp({ quality: QUALITY })
    .timeout({ seconds: TIMEOUT_SECONDS })
    .toBuffer();

/** @returns undefined if the file is larger than pictures are */
export async function readPicture(stream: Readable): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    size += piece.length;
    // Leaving the loop destroys the stream.
    if (size > MAX_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
}

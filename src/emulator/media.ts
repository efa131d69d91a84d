import { FormError, readForm } from './form.ts';
import { badParameter, badToken, graphError, unknownObject } from './graph-error.ts';
import { MEDIA_MAX_BYTES, MEDIA_TYPES, type Media, type ReceivedFile } from './media-store.ts';
import type { EmulatorNumber } from './options.ts';
import { bearerToken, json, type Reply, type Request, SUCCESS } from './reply.ts';
import type { World } from './world.ts';

/** `POST /{phone_number_id}/media`, multipart: `messaging_product`, `file` with its type. */
export async function uploadMedia(world: World, number: EmulatorNumber, request: Request): Promise<Reply> {
  const type = request.headers['content-type'];
  let file: { type: string; received: ReceivedFile } | undefined;
  try {
    const fields = await readForm(request.stream, type ?? '', async ({ name, type, bytes }) => {
      if (name !== 'file' || file) throw new FormError(`Unexpected file ${name}.`);
      file = { type, received: await world.media.receive(bytes) };
    });
    if (fields.get('messaging_product') !== 'whatsapp')
      throw badParameter('The parameter messaging_product is required.');
    if (!file) throw badParameter('The parameter file is required.');
    const mimeType = (file.type || fields.get('type') || '').toLowerCase();
    checkUpload(mimeType, file.received.size);
    throwConfiguredFault(world);
    return json(200, { id: world.media.keep(number.phoneNumberId, mimeType, file.received).id });
  } catch (error) {
    await file?.received.drop();
    throw error instanceof FormError ? badParameter(error.message) : error;
  }
}

function checkUpload(mimeType: string, size: number): void {
  const [essence = ''] = mimeType.split(';', 1);
  if (!MEDIA_TYPES.includes(essence)) {
    const allowed = MEDIA_TYPES.join(', ');
    throw badParameter(
      `Param file must be a file with one of the following types: ${allowed}. Received file of type '${essence || 'application/octet-stream'}'.`,
    );
  }
  if (size === 0) throw badParameter('Param file must not be empty.');
  const max = MEDIA_MAX_BYTES.find(([prefix]) => essence.startsWith(prefix))?.[1] ?? 0;
  if (size > max) throw graphError(131053, `File size ${size} is larger than ${max} bytes`);
}

function throwConfiguredFault(world: World): void {
  const { mediaErrorCode } = world.faults.current;
  if (mediaErrorCode !== null) throw graphError(mediaErrorCode);
}

/** `GET /{media_id}`. `file_size` is a number, as recorded; the specification says string. */
export function showMedia(world: World, request: Request, media: Media): Reply {
  throwConfiguredFault(world);
  return json(200, {
    url: world.media.link(request.origin, media, world.faults.current.mediaUrlSeconds),
    mime_type: media.mimeType,
    sha256: Buffer.from(media.sha256, 'base64').toString('hex'),
    file_size: media.size,
    id: media.id,
    messaging_product: 'whatsapp',
  });
}

export function deleteMedia(world: World, media: Media): Reply {
  world.media.remove(media.id);
  return json(200, SUCCESS);
}

/** The link of `showMedia`: requires a token, and returns 404 after five minutes. */
export function downloadMedia(world: World, request: Request): Reply {
  const token = bearerToken(request);
  const known = [...world.numbers.values()].some(number => number.accessToken === token);
  if (!known) throw badToken(token !== undefined);
  const id = request.query.get('mid') ?? '';
  const media = world.media.get(id);
  if (!media) throw unknownObject(request.method, id);
  if (!world.media.isFresh(request.query.get('ext'))) {
    return { kind: 'answer', status: 404, headers: { 'content-type': 'text/html' }, body: 'URL signature expired' };
  }
  const { mediaPage: page } = world.faults.current;
  if (page !== null) return { kind: 'answer', status: 200, headers: { 'content-type': 'text/html' }, body: page };
  const { size, mimeType } = media;
  const range = world.faults.current.mediaRanges ? rangeOf(request.headers['range'], size) : undefined;
  if (range === 'none') {
    return { kind: 'answer', status: 416, headers: { 'content-range': `bytes */${size}` }, body: '' };
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const headers = {
    'content-type': mimeType,
    'content-length': String(end - start + 1),
    ...(range && { 'content-range': `bytes ${start}-${end}/${size}` }),
  };
  return { kind: 'stream', status: range ? 206 : 200, headers, body: media.open(start, end) };
}

/** A `Range` header with one range (RFC 9110 §14.1.2); anything else is ignored, as the RFC allows. */
function rangeOf(header: unknown, size: number): { start: number; end: number } | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(typeof header === 'string' ? header : '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start >= size || start > end ? 'none' : { start, end };
}

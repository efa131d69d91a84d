import { badParameter, badToken, refusal, unknownObject } from './graph-error.ts';
import { MEDIA_MAX_BYTES, type Media } from './media-store.ts';
import type { EmulatorNumber } from './options.ts';
import { json, type Reply, type Request, SUCCESS } from './reply.ts';
import { bearerToken } from './token.ts';
import type { World } from './world.ts';

/** `POST /{phone_number_id}/media`, multipart: `messaging_product`, `file` with its type. */
export async function uploadMedia(world: World, number: EmulatorNumber, request: Request): Promise<Reply> {
  const type = request.headers['content-type'];
  const form = await new Response(new Uint8Array(request.body), {
    headers: { 'content-type': typeof type === 'string' ? type : '' },
  })
    .formData()
    .catch(() => undefined);
  if (!form) throw badParameter('The body must be multipart/form-data.');
  if (form.get('messaging_product') !== 'whatsapp') throw badParameter('The parameter messaging_product is required.');
  const file = form.get('file');
  if (!(file instanceof File)) throw badParameter('The parameter file is required.');
  const given = form.get('type');
  const mimeType = file.type || (typeof given === 'string' ? given : '');
  if (!/^[\w.+-]+\/[\w.+-]+/.test(mimeType)) throw badParameter('Param file must have a media type.');
  const max = MEDIA_MAX_BYTES.find(([prefix]) => mimeType.startsWith(prefix))?.[1] ?? 0;
  if (file.size > max) throw refusal(131053, `File size ${file.size} is larger than ${max} bytes`);
  const media = world.media.put(number.phoneNumberId, mimeType, Buffer.from(await file.arrayBuffer()));
  return json(200, { id: media.id });
}

/** `GET /{media_id}`. `file_size` is a number, as recorded; the specification says string. */
export function showMedia(world: World, request: Request, media: Media): Reply {
  return json(200, {
    url: world.media.link(request.origin, media, world.faults.current.mediaUrlSeconds),
    mime_type: media.mimeType,
    sha256: Buffer.from(media.sha256, 'base64').toString('hex'),
    file_size: media.bytes.length,
    id: media.id,
    messaging_product: 'whatsapp',
  });
}

export function deleteMedia(world: World, media: Media): Reply {
  world.media.remove(media.id);
  return json(200, SUCCESS);
}

/** The link that `showMedia` gave: works for five minutes and with a token only, then 404. */
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
  return { kind: 'answer', status: 200, headers: { 'content-type': media.mimeType }, body: media.bytes };
}

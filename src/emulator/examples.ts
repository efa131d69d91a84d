import { createHash } from 'node:crypto';
import { badParameter } from './graph-error.ts';
import { json, type Reply, type Request } from './reply.ts';

const HANDLE = /^4::[\w+/=]+:[\w-]{43}$/;

/**
 * `POST /app/uploads?file_name=&file_length=&file_type=`: starts the upload of an example for a template's header. The session id
 * encodes these parameters, so that no state is stored.
 */
export function beginExample({ query }: Request): Reply {
  const [length, type] = [Number(query.get('file_length')), query.get('file_type')];
  if (!Number.isInteger(length) || length <= 0) throw badParameter('The parameter file_length is required.');
  if (!type) throw badParameter('The parameter file_type is required.');
  const announced = Buffer.from(JSON.stringify({ length, type })).toString('base64url');
  return json(200, { id: `upload:${announced}?sig=emulated` });
}

/** `POST /upload:…?sig=…` with the bytes and `file_offset: 0`: answers with the handle. */
export function receiveExample({ headers, body, query }: Request, id: string): Reply {
  const { length, type } = JSON.parse(Buffer.from(id.slice('upload:'.length), 'base64url').toString()) as {
    readonly length: number;
    readonly type: string;
  };
  if (query.get('sig') === null) throw badParameter('The signature of the upload session is missing.');
  if (headers['file_offset'] !== '0') throw badParameter('The header file_offset is required.');
  if (body.length !== length)
    throw badParameter(`The file has ${body.length} bytes; ${length} were announced as file_length.`);
  const digest = createHash('sha256').update(body).digest('base64url');
  return json(200, { h: `4::${Buffer.from(type).toString('base64')}:${digest}` });
}

/** Whether a handle is one of `receiveExample`. */
export const isExample = (handle: string | undefined): boolean => handle !== undefined && HANDLE.test(handle);

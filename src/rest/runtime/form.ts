import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CodedError, FieldErrorList, invalid } from '../../core/errors.ts';
import type { Caller } from '../../graphql/execution/kernel.ts';
import type { RestRequest } from './call.ts';
import { ReceivedFile } from './fields.ts';
import type { RestHost } from './host.ts';

type Fields = Record<string, unknown>;

const TWICE = 'May be given only once.';
const LIMITS = { fields: 100, parts: 110, files: 10, fieldSize: 64 * 1024, fieldNameSize: 100, headerPairs: 20 };

/** The fields of a body that are files; a route with any accepts forms as well as JSON. */
export function filesOf(body: z.ZodType | undefined): readonly string[] {
  const shape = body instanceof z.ZodPipe && body.out instanceof z.ZodObject ? body.out.shape : {};
  return Object.keys(shape).filter(name => z.globalRegistry.get(shape[name])?.['format'] === 'binary');
}

/** Accepts multipart forms on this instance. */
export async function acceptForms(app: FastifyInstance): Promise<void> {
  // A file's limit depends on its type, which the upload detects.
  await app.register(multipart, {
    limits: { ...LIMITS, fileSize: Number.MAX_SAFE_INTEGER },
    throwFileSizeLimit: false,
  });
}

/**
 * Reads a form and streams its files to the network in their order; `channel_id` has to precede them.
 * `contact[firstname]` and `contact[groups][]` are nested fields.
 *
 * @returns the body as a JSON client would have written it, with a `ReceivedFile` for each file
 * @throws BAD_REQUEST for a malformed form, VALIDATION_ERROR, and every error of an upload
 */
export async function readForm(
  request: RestRequest,
  host: Pick<RestHost, 'receiveFile'>,
  caller: Caller,
  files: readonly string[],
): Promise<Fields> {
  const fields: Fields = {};
  const errors = new FieldErrorList();
  const parts = request.parts();
  for (;;) {
    const { value: part, done } = await parts.next().catch((error: unknown) => {
      throw formError(error);
    });
    if (done) break;
    const name = part.fieldname;
    if (part.type === 'field') {
      if (part.valueTruncated) errors.add(name, `May have at most ${LIMITS.fieldSize} bytes.`);
      else put(fields, name, part.value, errors);
      continue;
    }
    if (!files.includes(name)) throw invalid({ [name]: [`Is not a file field. File fields: ${files.join(', ')}.`] });
    if (Object.hasOwn(fields, name)) throw invalid({ [name]: [TWICE] });
    const stream = await contentOf(part);
    // A file input of a web page without a chosen file.
    if (!stream) continue;
    const channelId = fields['channel_id'];
    const mediaId = await host.receiveFile(caller, {
      field: name,
      filename: part.filename || null,
      mimeType: part.mimetype,
      stream,
      channelId: typeof channelId === 'string' && channelId !== '' ? channelId : null,
    });
    fields[name] = new ReceivedFile(mediaId);
  }
  errors.throwIfAny();
  return fields;
}

/** @returns undefined for a file without a name and without content */
async function contentOf({ file, filename }: MultipartFile): Promise<AsyncIterable<Uint8Array> | undefined> {
  if (filename) return file;
  for await (const first of file.iterator({ destroyOnReturn: false })) {
    return (async function* () {
      yield first;
      yield* file;
    })();
  }
  return undefined;
}

/** Maps an error of the form parser. Errors without a status mean a malformed form. */
function formError(error: unknown): unknown {
  if (error instanceof Error && 'statusCode' in error) return error;
  return new CodedError('BAD_REQUEST', 'The body is not a valid form (multipart/form-data).');
}

/**
 * Sets a field. `a[b][c]` is a nested field, `a[]` appends to a list, as in PHP and Rails. A field that is set already keeps its value
 * and is added to the errors.
 */
function put(fields: Fields, name: string, value: unknown, errors: FieldErrorList): void {
  const [, first = name, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? [];
  const steps = [...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, step = '']) => step);
  const path = [first, ...steps];
  // Prototype keys; the form parser only checks the first step.
  if (path.some(step => step in Object.prototype) || path.length > 4) return;
  let at: Fields | unknown[] = fields;
  for (const [index, step] of path.entries()) {
    const next = path[index + 1];
    const inner: unknown = Array.isArray(at) ? undefined : at[step];
    if (inner !== undefined && (next === undefined || !isContainer(inner))) {
      errors.add(path.join('.'), TWICE);
      return;
    }
    if (next === undefined) {
      if (Array.isArray(at)) at.push(value);
      else at[step] = value;
      return;
    }
    const container: Fields | unknown[] = isContainer(inner) ? inner : next === '' ? [] : {};
    if (Array.isArray(at)) at.push(container);
    else at[step] = container;
    at = container;
  }
}

const isContainer = (value: unknown): value is Fields | unknown[] =>
  typeof value === 'object' && value !== null && !(value instanceof ReceivedFile);

import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import { CodedError, FieldErrorList, invalid } from '../errors.ts';
import type { Caller } from '../graphql/kernel.ts';
import type { RestRequest } from './call.ts';
import type { RestHost } from './host.ts';
import type { Shape } from './openapi/shape.ts';
import { ReceivedFile } from './received-file.ts';

type Fields = Record<string, unknown>;

const LIMITS = { fields: 100, parts: 110, files: 10, fieldSize: 64 * 1024, fieldNameSize: 100, headerPairs: 20 };

/** The fields of a body that are files; a route with any takes forms as well as JSON. */
export function filesOf(body: Shape | undefined): readonly string[] {
  const fields = body?.kind === 'object' ? body.fields : body && 'with' in body ? (body.with ?? {}) : {};
  return Object.entries(fields)
    .filter(([, shape]) => shape.kind === 'plain' && shape.schema['format'] === 'binary')
    .map(([name]) => name);
}

/** Lets routes of this instance be sent forms. */
export async function acceptForms(app: FastifyInstance): Promise<void> {
  // How large a file may be depends on what it is, and is counted where that is known.
  await app.register(multipart, {
    limits: { ...LIMITS, fileSize: Number.MAX_SAFE_INTEGER },
    throwFileSizeLimit: false,
  });
}

/**
 * Reads a form. Its files go straight on, in the order in which they come; `channel_id`, where it is given, has to stand before them.
 * `contact[firstname]` and `contact[groups][]` are read as fields of fields.
 *
 * @returns the body as a JSON client would have written it, with a `ReceivedFile` for each file
 * @throws BAD_REQUEST for what is no form, VALIDATION_ERROR, and whatever may be wrong with a file or with who sends it
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
      throw unreadable(error);
    });
    if (done) break;
    const name = part.fieldname;
    if (part.type === 'field') {
      if (part.valueTruncated) errors.add(name, `May have at most ${LIMITS.fieldSize} bytes.`);
      else put(fields, name, part.value);
      continue;
    }
    if (!files.includes(name)) throw invalid({ [name]: [`This is no file. Files are: ${files.join(', ')}.`] });
    if (Object.hasOwn(fields, name)) throw invalid({ [name]: ['May be given once.'] });
    const stream = await startOf(part);
    // An input of a page in which no file was chosen.
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

/** @returns undefined for a file without a name and without a byte */
async function startOf({ file, filename }: MultipartFile): Promise<AsyncIterable<Uint8Array> | undefined> {
  if (filename) return file;
  for await (const first of file.iterator({ destroyOnReturn: false })) {
    return (async function* () {
      yield first;
      yield* file;
    })();
  }
  return undefined;
}

/** What the reader of forms says; where it says no status, the form itself is at fault. */
function unreadable(error: unknown): unknown {
  if (error instanceof Error && 'statusCode' in error) return error;
  return new CodedError('BAD_REQUEST', 'The body is not a form that can be read (multipart/form-data).');
}

/** `a[b][c]` is a field of a field, `a[]` one more item of a list, as PHP and Rails write forms. */
function put(fields: Fields, name: string, value: unknown): void {
  const [, first = name, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? [];
  const steps = [...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, step = '']) => step);
  const path = [first, ...steps];
  // Nobody's own field; the reader of forms refuses the first alone.
  if (path.some(step => step in Object.prototype) || path.length > 4) return;
  let at: Fields | unknown[] = fields;
  for (const [index, step] of path.entries()) {
    const next = path[index + 1];
    const inner: unknown = Array.isArray(at) ? undefined : at[step];
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

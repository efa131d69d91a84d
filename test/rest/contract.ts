import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { schema } from '../../src/app/schema.ts';
import { openApiOf } from '../../src/rest/openapi/document.ts';
import { titleOf } from '../../src/rest/runtime/rest-error.ts';
import { API_V1, ROUTES_V1 } from '../../src/rest/v1/api.ts';
import { API_V2, ROUTES_V2 } from '../../src/rest/v2/api.ts';

type Json = { readonly [key: string]: unknown };

export interface Media {
  readonly schema: Json;
  readonly example?: unknown;
}
export interface Response {
  readonly content?: Readonly<Record<string, Media>>;
}
export interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Json[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<'schemas' | 'responses' | 'parameters', Readonly<Record<string, Json>>>>;
}

/** Below which prefix an answer was asked for. */
export type Version = 'v1' | 'v2';

/** The document as clients get it. */
export const openApi = (version: Version = 'v2'): Document =>
  JSON.parse(
    JSON.stringify(version === 'v1' ? openApiOf(ROUTES_V1, schema, API_V1) : openApiOf(ROUTES_V2, schema, API_V2)),
  ) as unknown as Document;

/** What a reference names; anything else is itself. */
export function resolved<T>(document: Document, value: T): T {
  const ref = (value as { readonly $ref?: string }).$ref;
  if (ref === undefined) return value;
  let at: unknown = document;
  for (const part of ref.slice(2).split('/')) at = (at as Json | undefined)?.[part.replaceAll('~1', '/')];
  if (at === undefined) throw new Error(`${ref} names nothing.`);
  return at as T;
}

/** Compiles schemas of the document, as strictly as ajv can. */
export function compiler(document: Document): (schema: Json) => ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictTypes: true, allowUnionTypes: true, allErrors: true });
  formats.default(ajv);
  const local = (value: unknown): Json =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/components/schemas/', '"openapi.json#/$defs/'));
  ajv.addSchema({ $id: 'openapi.json', $defs: local(document.components.schemas) });
  return wanted => ajv.compile(local(wanted));
}

/** An answer as the contract sees it. */
export interface CheckedResponse {
  readonly method: string;
  /** Below /api/v2 or /api/v1/{tenant}, with the query. */
  readonly path: string;
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

/** Answers that no operation can give: an address that does not exist or cannot be read, a method that is not possible. */
const ANYWHERE: Readonly<Record<number, string>> = { 400: 'BAD_REQUEST', 404: 'NOT_FOUND', 405: 'METHOD_NOT_ALLOWED' };

export class Contract {
  readonly #version: Version;
  readonly #document: Document;
  readonly #compile: ReturnType<typeof compiler>;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(version: Version) {
    this.#version = version;
    this.#document = openApi(version);
    this.#compile = compiler(this.#document);
  }

  /** What is wrong with an answer, seen from the document; undefined when it keeps its promise. */
  faultOf(response: CheckedResponse): string | undefined {
    const fault = this.#faultOf(response);
    return (
      fault && `${response.method} ${response.path} → ${response.status}: ${fault}\n${response.text.slice(0, 1_000)}`
    );
  }

  #faultOf({ method, path, status, type, text }: CheckedResponse): string | undefined {
    if (/^\/(openapi\.json|docs)/.test(path)) return undefined;
    if (method === 'OPTIONS' && status === 204) return undefined;
    const [template, operations] = this.#pathOf(path.split('?', 1)[0] ?? '') ?? [];
    const operation = operations?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (!template || !operation) return (this.#version === 'v1' ? outsideV1 : outside)(method, status, text);
    const response = operation.responses[status];
    if (!response) return 'an undocumented status';
    const { content } = resolved(this.#document, response);
    if (method === 'HEAD' || !content) return text === '' ? undefined : 'a body where none is documented';
    const media = content[(type ?? '').split(';', 1)[0] ?? ''];
    if (!media) return `an undocumented type: ${type}`;
    const validate = this.#validator(`${method} ${template} ${status} ${type}`, media.schema);
    if (validate(JSON.parse(text))) return undefined;
    return (validate.errors ?? [])
      .map(({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`)
      .join('; ');
  }

  #validator(key: string, wanted: Json): ValidateFunction {
    const validate = this.#validators.get(key) ?? this.#compile(wanted);
    this.#validators.set(key, validate);
    return validate;
  }

  /** The documented path that an address belongs to: the one with the fewest parameters, as OpenAPI says. */
  #pathOf(path: string): [string, Readonly<Record<string, Operation>>] | undefined {
    const matches = Object.entries(this.#document.paths).filter(([template]) =>
      new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
    return matches.sort(([a], [b]) => a.split('{').length - b.split('{').length)[0];
  }
}

/** Version 1 has no codes, but a shape, and one message for each code. */
function outsideV1(method: string, status: number, text: string): string | undefined {
  const code = ANYWHERE[status];
  if (code === undefined) return 'no operation is documented here';
  if (method === 'HEAD') return undefined;
  const { status: word, message, errors, ...others } = JSON.parse(text) as Json;
  const isRight = word === 'error' && message === titleOf(code) && typeof errors === 'string';
  return isRight && Object.keys(others).length === 0 ? undefined : `not ${code}`;
}

function outside(method: string, status: number, text: string): string | undefined {
  const code = ANYWHERE[status];
  if (code === undefined) return 'no operation is documented here';
  if (method === 'HEAD') return undefined;
  const body = JSON.parse(text) as { readonly error?: { readonly code?: string }; readonly code?: string };
  return (body.error?.code ?? body.code) === code ? undefined : `not ${code}`;
}

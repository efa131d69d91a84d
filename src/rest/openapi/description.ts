import type { ErrorCode } from '../../core/errors.ts';
import type { RowStyle } from '../runtime/route.ts';
import type { Components, HeaderName } from './components.ts';
import type { WireSchemas } from './output.ts';
import type { JsonSchema } from './schema.ts';

/** One version of the interface. */
export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** The prefix of all paths. */
  readonly prefix: string;
  /** The base address of the table's paths; `prefix` by default. */
  readonly server?: JsonSchema;
  /** Descriptions of the first segments of paths. */
  readonly tags: Readonly<Record<string, string>>;
  readonly deprecated?: true;
  readonly rows: RowStyle;
  /** How this version writes times and booleans. */
  readonly wire: WireSchemas;
  /** Headers of every answer. */
  readonly headers: readonly HeaderName[];
  /** The body of success. @param data the schema of `data`; of a list, that of one row */
  success(data: JsonSchema, isList: boolean, components: Components): JsonSchema;
  /** The bodies of an error with one of these codes, by media type. */
  failure(status: number, codes: readonly ErrorCode[], components: Components): Readonly<Record<string, JsonSchema>>;
  /** Errors of every operation of this version. */
  readonly errors: readonly ErrorCode[];
  /** The content of `details`, by code. */
  readonly details: Partial<Record<ErrorCode, string>>;
}

import type { Maybe } from '../../../core/maybe.ts';
import type { LabelRow } from '../../contacts/labels/label.ts';
import type { Place } from '../../templates/sending/parameters.ts';
import { DEFAULT_PATHS, type Kind, type Paths } from './paths.ts';

/** The value of a variable: from a path, with a fallback if nothing is there, or a fixed text. */
export interface Value {
  readonly path?: Maybe<string>;
  readonly fallback?: Maybe<string>;
  readonly text?: Maybe<string>;
}

export interface MappedHeader {
  readonly text?: Maybe<Value>;
  /** URLs of files. */
  readonly image?: Maybe<Value>;
  readonly video?: Maybe<Value>;
  readonly document?: Maybe<Value>;
  readonly filename?: Maybe<Value>;
  readonly location?: Maybe<Place>;
}

export interface MappedTemplate {
  readonly name: string;
  readonly language: string;
  readonly channelId?: Maybe<number>;
  readonly header?: Maybe<MappedHeader>;
  readonly body?: Maybe<readonly Value[]>;
  readonly bodyByName?: Maybe<readonly { readonly name: string; readonly value: Value }[]>;
  readonly buttons?: Maybe<readonly { readonly index: number; readonly value: Value }[]>;
}

export interface MappingRow {
  readonly id: number;
  readonly integration_id: number;
  readonly name: string;
  readonly is_enabled: boolean;
  readonly topics: readonly string[];
  readonly statuses: readonly string[];
  /** Paths that differ from the defaults of the kind. */
  readonly paths: Partial<Paths>;
  readonly template: MappedTemplate | null;
  readonly groups: readonly LabelRow[];
  readonly created_at: string;
  readonly updated_at: string;
}

export const pathsOf = (kind: Kind, { paths }: Pick<MappingRow, 'paths'>): Paths => ({
  ...DEFAULT_PATHS[kind],
  ...paths,
});

/** Why a mapping does not apply to a payload. */
export type Mismatch = 'SWITCHED_OFF' | 'OTHER_TOPIC' | 'OTHER_STATUS';

export function mismatchOf(mapping: MappingRow, topic: string, status: string | undefined): Mismatch | undefined {
  if (!mapping.is_enabled) return 'SWITCHED_OFF';
  if (mapping.topics.length > 0 && !mapping.topics.includes(topic)) return 'OTHER_TOPIC';
  const word = (status ?? '').toLowerCase();
  if (mapping.statuses.length > 0 && !mapping.statuses.includes(word)) return 'OTHER_STATUS';
  return undefined;
}

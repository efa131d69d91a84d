import { z } from 'zod';
import { type FieldCode, FieldErrorList, invalid } from '../../../core/errors.ts';
import { isLonger } from '../../../platform/text.ts';

/** Groups, sources and statuses are labels: named rows of a tenant by which contacts are classified. `LABELS` has their differences. */
export type LabelKind = 'group' | 'source' | 'status';

export interface LabelRow {
  readonly id: number;
  readonly name: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Statuses only. */
  readonly color?: string;
}

export type PublicGroup = LabelRow;
export type PublicSource = LabelRow;
export type PublicStatus = LabelRow & { readonly color: string };

interface LabelTraits {
  readonly table: 'groups' | 'sources' | 'statuses';
  /** As errors name it. */
  readonly name: 'Group' | 'Source' | 'Status';
  /** The GraphQL type. Contacts' own, because the network and messages have groups and statuses too. */
  readonly type: 'ContactGroup' | 'ContactSource' | 'ContactStatus';
  /** Query fields. */
  readonly list: 'contactGroups' | 'contactSources' | 'contactStatuses';
  readonly one: 'contactGroup' | 'contactSource' | 'contactStatus';
  readonly columns: readonly (keyof LabelRow)[];
  /** Of the GraphQL type. */
  readonly description: string;
  /** Whether it cannot be deleted while contacts use it. Deleting a group removes its members from it. */
  readonly inUseBlocksDelete: boolean;
}

const COLUMNS = ['id', 'name', 'created_at', 'updated_at'] as const;

export const LABELS: Readonly<Record<LabelKind, LabelTraits>> = {
  group: {
    table: 'groups',
    name: 'Group',
    type: 'ContactGroup',
    list: 'contactGroups',
    one: 'contactGroup',
    columns: COLUMNS,
    description: 'A named set of contacts. A contact can be in any number of groups.',
    inUseBlocksDelete: false,
  },
  source: {
    table: 'sources',
    name: 'Source',
    type: 'ContactSource',
    list: 'contactSources',
    one: 'contactSource',
    columns: COLUMNS,
    description: 'Where contacts come from, for example a web form, a shop or a trade fair.',
    inUseBlocksDelete: true,
  },
  status: {
    table: 'statuses',
    name: 'Status',
    type: 'ContactStatus',
    list: 'contactStatuses',
    one: 'contactStatus',
    columns: [...COLUMNS, 'color'],
    description: 'Stage of a contact in the sales process, for example new, in negotiation or won.',
    inUseBlocksDelete: true,
  },
};

export interface LabelInput {
  readonly name?: string | null | undefined;
  readonly color?: string | null | undefined;
}

export interface LabelFields {
  readonly name?: string;
  readonly color?: string;
}

const COLOR = z.string().regex(/^#[0-9a-fA-F]{6}$/);
const MAX_NAME = 150;

/** Validates a trimmed name. */
export function labelNameFault(name: string): { readonly message: string; readonly code: FieldCode } | undefined {
  if (name === '') return { message: 'Is required.', code: 'REQUIRED' };
  return isLonger(name, MAX_NAME)
    ? { message: `May have at most ${MAX_NAME} characters.`, code: 'TOO_LONG' }
    : undefined;
}

/**
 * Validates and normalises the fields of a label.
 * @param partial for an update: the name may be left out
 * @throws VALIDATION_ERROR by field
 */
export function parseLabel(input: LabelInput, partial: boolean): LabelFields {
  const errors = new FieldErrorList();
  const name = input.name?.trim();
  if (partial) errors.refuseNull(input, ['name', 'color']);
  const fault = name === undefined && partial ? undefined : labelNameFault(name ?? '');
  if (fault) errors.add('name', fault.message, fault.code);
  if (input.color != null && !COLOR.safeParse(input.color).success) errors.add('color', 'Must look like #1A2B3C.');
  errors.throwIfAny();
  return { ...(name !== undefined && { name }), ...(input.color != null && { color: input.color.toUpperCase() }) };
}

export const nameTaken = (): Error => invalid({ name: ['Is already taken.'] }, 'TAKEN');

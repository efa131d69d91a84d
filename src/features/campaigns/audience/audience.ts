import type { Filter } from '../../../core/list-args.ts';

/** Audience of a campaign: exactly one of these. Ids are numeric, except within a filter. */
export type Audience =
  | { readonly groupIds: readonly number[] }
  | { readonly filter: Filter }
  | { readonly contactIds: readonly number[] }
  | { readonly listId: number };

/** Contacts or phone numbers that a campaign names one by one; more of them are uploaded as a list. */
export const MAX_NAMED = 1_000;
export const MAX_GROUPS = 100;

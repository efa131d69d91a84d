import type { Author } from '../../../core/author.ts';
import type { FieldCode } from '../../../core/errors.ts';
import { isLonger, isStorable, UNSTORABLE } from '../../../platform/text.ts';

export type ConsentCategory = 'all' | 'marketing' | 'utility';
export type ConsentState = 'opted_in' | 'opted_out';
export type ConsentSource = 'keyword' | 'button' | 'page' | 'import' | 'api' | 'staff' | 'network';

export const CONSENT_CATEGORIES = ['all', 'marketing', 'utility'] as const satisfies readonly ConsentCategory[];

/** An entry as events carry it. */
export interface PublicConsentEntry {
  readonly id: number;
  readonly category: ConsentCategory;
  readonly state: ConsentState;
  readonly source: ConsentSource;
  /** The wamid of the person's message, or another proof. */
  readonly evidence: string | null;
  readonly occurred_at: string;
}

export interface NewConsentEntry {
  readonly contactId: number;
  readonly category: ConsentCategory;
  readonly state: ConsentState;
  readonly source: ConsentSource;
  readonly evidence?: string | undefined;
  readonly author?: Author | undefined;
  readonly occurredAt: string;
  /** Whether the time is only that at which it was recorded: it is then the same entry as one of any time. */
  readonly isUndated?: boolean;
}

const MAX_EVIDENCE = 1_000;

/** Validates the text of evidence. */
export function evidenceFault(text: string): { readonly message: string; readonly code: FieldCode } | undefined {
  if (isLonger(text, MAX_EVIDENCE))
    return { message: `May have at most ${MAX_EVIDENCE} characters.`, code: 'TOO_LONG' };
  return isStorable(text) ? undefined : { message: UNSTORABLE, code: 'INVALID' };
}

/** The latest entry of each category that has one. */
export type LatestEntries = Partial<Record<ConsentCategory, Pick<PublicConsentEntry, 'id' | 'state' | 'occurred_at'>>>;

/**
 * The categories that a person has opted out of. The latest entry of a category decides. An opt-out of `all` covers every category,
 * and an opt-in to one category does not lift it; an opt-in to `all` lifts earlier opt-outs of every category.
 */
export function optedOutOf(latest: LatestEntries): ConsentCategory[] {
  const { all } = latest;
  if (all?.state === 'opted_out') return [...CONSENT_CATEGORIES];
  return CONSENT_CATEGORIES.filter(category => {
    const entry = latest[category];
    return entry?.state === 'opted_out' && !(all && isLater(all, entry));
  });
}

/** Effective consent of a category, with the deciding entry. */
export interface EffectiveConsent {
  readonly category: ConsentCategory;
  readonly entry: Pick<PublicConsentEntry, 'id' | 'state' | 'occurred_at'>;
}

/** As `optedOutOf`, with opt-ins: categories without an entry are left out. */
export function effectiveConsents(latest: LatestEntries): EffectiveConsent[] {
  const { all } = latest;
  return CONSENT_CATEGORIES.flatMap(category => {
    const own = latest[category];
    const decides = all && (all.state === 'opted_out' || !own || isLater(all, own)) ? all : own;
    return decides ? [{ category, entry: decides }] : [];
  });
}

const isLater = (a: { id: number; occurred_at: string }, b: { id: number; occurred_at: string }): boolean =>
  a.occurred_at === b.occurred_at ? a.id > b.id : a.occurred_at > b.occurred_at;

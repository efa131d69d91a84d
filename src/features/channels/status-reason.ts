import { invalid } from '../../core/errors.ts';
import { isLonger, isStorable, UNSTORABLE } from '../../platform/text.ts';

export const MAX_REASON = 200;

/** Parses the reason shown with a paused or disconnected channel. @throws VALIDATION_ERROR */
export function reasonOf(text: string | null | undefined, otherwise: string): string {
  const reason = text?.trim() || otherwise;
  if (isLonger(reason, MAX_REASON))
    throw invalid({ reason: [`May have at most ${MAX_REASON} characters.`] }, 'TOO_LONG');
  if (!isStorable(reason)) throw invalid({ reason: [UNSTORABLE] });
  return reason;
}

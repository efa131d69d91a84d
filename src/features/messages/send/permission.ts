import { CodedError } from '../../../core/errors.ts';
import type { Tenant } from '../../../core/principal.ts';
import { windowOf } from '../window.ts';
import type { Content } from './content.ts';
import type { SendFacts } from './facts.sql.ts';

/** @throws CONTACT_OPTED_OUT if a person with the number of a new contact had opted out before their erasure */
export function refuseErased(
  { category }: Content,
  { erased_at: erasedAt, erased_opt_outs: optOuts }: SendFacts,
  mayBeOptedOut: boolean,
): void {
  // The time of the opt-out was erased with the person. That of the erasure stands in for it, as with restored opt-outs.
  if (optOuts?.includes('all')) {
    if (mayBeOptedOut) return;
    throw new CodedError(
      'CONTACT_OPTED_OUT',
      'The person with this number asked not to be messaged before their data was erased.',
      { details: { opted_out_at: erasedAt, category: 'all' } },
    );
  }
  if (category !== undefined && optOuts?.includes(category))
    throw new CodedError(
      'CONTACT_OPTED_OUT',
      `The person with this number asked not to get ${category} messages before their data was erased.`,
      { details: { opted_out_at: erasedAt, category } },
    );
}

/** Whether the call or the tenant's policy refuses free-form messages outside the service window. */
export const refusesOutside = (
  tenant: Pick<Tenant, 'windowPolicy'>,
  input: { readonly requireOpenWindow?: boolean | null | undefined },
): boolean => input.requireOpenWindow ?? tenant.windowPolicy === 'refuse';

/** @throws OUTSIDE_SERVICE_WINDOW if the window is closed */
export function requireWindow(found: Pick<SendFacts, 'window_expires_at' | 'now_ms'>): void {
  if (windowOf(found.window_expires_at, found.now_ms).open) return;
  throw new CodedError(
    'OUTSIDE_SERVICE_WINDOW',
    'The 24-hour service window of this contact is closed: only a template can be sent.',
    {
      details: {
        windowExpiredAt: found.window_expires_at,
      },
    },
  );
}

import type { MessageParts, Referral } from '../../../network/updates.ts';

/** Details of a message, as published in events; missing ones are omitted. */
export interface MessageDetails {
  /** Source of a message that we did not send: the business's phone app, another app, or the history import. */
  readonly origin?: 'phone_app' | 'other_app' | 'history';
  readonly forwarding?: 'forwarded' | 'frequently_forwarded';
  /** The ad or post from which the person wrote. */
  readonly referral?: Referral;
  readonly referred_product?: { readonly catalog_id: string | null; readonly product_id: string | null };
  readonly username?: string;
  /** Set if the person's security code has changed. */
  readonly identity_hash?: string;
  readonly group_chat_id?: number;
  /** Another app owns the thread; this is a copy. */
  readonly is_standby?: true;
  /** The network's timestamp was invalid; the time of arrival is used. */
  readonly is_time_estimated?: true;
}

/** @returns undefined if the message has no details */
export function detailsOf(
  parts: MessageParts & { readonly isStandby?: true },
  more: Pick<MessageDetails, 'origin' | 'group_chat_id'> = {},
): MessageDetails | undefined {
  const { forwarding, referral, referredProduct: product, username, identityHash, isStandby, isTimeEstimated } = parts;
  const details: MessageDetails = {
    ...more,
    ...(forwarding && { forwarding }),
    ...(referral && { referral }),
    ...(product && {
      referred_product: { catalog_id: product.catalogId ?? null, product_id: product.productId ?? null },
    }),
    ...(username !== undefined && { username }),
    ...(identityHash !== undefined && { identity_hash: identityHash }),
    ...(isStandby && { is_standby: true }),
    ...(isTimeEstimated && { is_time_estimated: true }),
  };
  return Object.keys(details).length === 0 ? undefined : details;
}

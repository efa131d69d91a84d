import { asId, asObject, asText, type JsonObject } from '../../../platform/json.ts';
import type { ChangeAddress } from '../../updates.ts';

/**
 * The subject of a change. The network uses four formats, also in unknown fields, so the format is detected from the value and not
 * from the field:
 * - A: `metadata.phone_number_id`;
 * - B: `display_phone_number`, with the business account in `entry.id`;
 * - C: the business account only;
 * - D: `phone_number_settings.phone_number_id`, `recipient.phone_number_id`, `entity_type` with `entity_id`, and
 *   `waba_info.waba_id` (`entry.id` is a business portfolio then); a portfolio: all channels of its accounts.
 */
export function addressOf(entryId: string | undefined, value: JsonObject | undefined): ChangeAddress {
  const entityType = asText(value?.['entity_type']);
  const entityId = asId(value?.['entity_id']);
  const phoneNumberId =
    asId(asObject(value?.['metadata'])?.['phone_number_id']) ??
    asId(asObject(value?.['phone_number_settings'])?.['phone_number_id']) ??
    asId(asObject(value?.['recipient'])?.['phone_number_id']) ??
    (entityType === 'PHONE_NUMBER' ? entityId : undefined);
  const wabaId = asId(asObject(value?.['waba_info'])?.['waba_id']) ?? entryId;
  const display = asId(value?.['display_phone_number'])?.replace(/\D/g, '');
  return {
    phoneNumberId,
    wabaId,
    displayPhoneNumber: display === '' ? undefined : display,
    portfolioId: entityType === 'BUSINESS' ? entityId : undefined,
  };
}

/** The network's identifiers of a channel. */
export interface ChannelIds {
  readonly phoneNumberId: string;
  readonly wabaId: string;
  /** Null if unknown. */
  readonly portfolioId: string | null;
  /** In any notation. */
  readonly displayPhoneNumber: string;
}

/** Returns the channels that a change concerns; empty if there are none. */
export function channelsOfAddress<Channel extends ChannelIds>(
  address: ChangeAddress,
  channels: readonly Channel[],
): Channel[] {
  const { phoneNumberId, wabaId, displayPhoneNumber, portfolioId } = address;
  if (phoneNumberId !== undefined) return channels.filter(channel => channel.phoneNumberId === phoneNumberId);
  if (portfolioId !== undefined) {
    const ofPortfolio = channels.filter(channel => channel.portfolioId === portfolioId);
    // Also matches an account whose portfolio is still unknown.
    return ofPortfolio.length > 0 ? ofPortfolio : channels.filter(channel => channel.wabaId === wabaId);
  }
  // `entry.id` is an account or, if the change concerns several, a portfolio.
  const ofAccount = channels.filter(
    channel => channel.wabaId === wabaId || (wabaId !== undefined && channel.portfolioId === wabaId),
  );
  if (displayPhoneNumber === undefined) return ofAccount;
  return ofAccount.filter(channel => channel.displayPhoneNumber.replace(/\D/g, '') === displayPhoneNumber);
}

/**
 * The `wa_id` of a number: digits without plus, which may differ from those dialled.
 * - Brazil: outside the area codes 11 to 28 accounts are kept without the ninth digit that mobiles got in 2012 to 2016.
 * - Mexico: a 1 stands between the country code and the ten digits (dialled until 2020, kept in ids).
 * - Argentina: a 9 marks mobiles.
 * It is the same person, but responses and webhooks contain a different number than the one sent to.
 */
export function toWaId(digits: string): string {
  const brazil = /^55(\d\d)9(\d{8})$/.exec(digits);
  if (brazil && Number(brazil[1]) > 28) return `55${brazil[1]}${brazil[2]}`;
  if (/^52\d{10}$/.test(digits)) return `521${digits.slice(2)}`;
  if (/^54\d{10}$/.test(digits)) return `549${digits.slice(2)}`;
  return digits;
}

import { SECOND } from '../../platform/clock.ts';
import type { Db } from '../../platform/database.ts';
import { phoneKey } from '../../platform/phone.ts';
import { type BotRow, MAX } from './bot.ts';
import { REMEMBERED_REPLIES, type Standing } from './decide.ts';
import { channelNumbers, type StandingRow, standings } from './standing-store.ts';

export const NEVER_ANSWERED: Standing = {
  repliedAt: [],
  lastByBot: new Map(),
  personAt: undefined,
  enabled: undefined,
};

/** How it stands between some bots and some contacts. In the transaction that has locked the contacts it stays so. */
export async function standingsOf(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
  bots: readonly Pick<BotRow, 'id' | 'hand_over_minutes'>[],
  nowMs: number,
): Promise<Map<number, Standing>> {
  if (contactIds.length === 0) return new Map();
  const rows = await standings(
    db,
    tenantId,
    contactIds,
    bots.map(bot => bot.id),
    new Date(nowMs - MAX.cooldownSeconds * SECOND).toISOString(),
    Math.max(0, ...bots.map(bot => bot.hand_over_minutes)),
    REMEMBERED_REPLIES,
    new Date(nowMs).toISOString(),
  );
  return new Map(rows.map(row => [row.contact_id, standingOf(row)]));
}

const standingOf = ({ replied_at, last_by_bot, person_at, enabled_bots }: StandingRow): Standing => ({
  repliedAt: replied_at.map(Date.parse),
  lastByBot: new Map(Object.entries(last_by_bot).map(([id, at]) => [Number(id), Date.parse(at)])),
  personAt: person_at === null ? undefined : Date.parse(person_at),
  enabled: new Set(enabled_bots),
});

/** A person's numbers, as far as they are known. */
export interface Numbered {
  readonly phone: string | null;
  readonly phone_key: string | null;
  readonly wa_id: string | null;
}

/** Tells people from business numbers that are connected here, by every spelling of their numbers. */
export async function ownNumbers(db: Db, people: readonly Numbered[]): Promise<(person: Numbered) => boolean> {
  const asked = [...new Set(people.flatMap(spellings))];
  const own = asked.length === 0 ? new Set<string>() : await channelNumbers(db, asked);
  return person => spellings(person).some(digits => own.has(digits));
}

function spellings({ phone, phone_key, wa_id }: Numbered): string[] {
  const digits = [phone, wa_id].flatMap(number =>
    number === null ? [] : [number.replace(/\D/g, ''), phoneKey(number)],
  );
  return [...new Set([...digits, ...(phone_key === null ? [] : [phone_key])])];
}

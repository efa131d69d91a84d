import type { JsonObject } from '../../platform/json.ts';
import { type BotReply, toWire } from './reply/reply.ts';

export const TRIGGERS = ['exact', 'contains', 'starts_with', 'first_message', 'any', 'regex'] as const;
export type Trigger = (typeof TRIGGERS)[number];

export const KINDS = ['message', 'template'] as const;
export type BotKind = (typeof KINDS)[number];

/** Why a reply could not be sent. */
export interface BotRefusal {
  /** An error code, TOO_OLD, DISABLED or HANDED_OVER. */
  readonly code: string;
  readonly message: string;
  readonly refused_at: string;
}

/** A row of `bots`. */
export interface BotRow {
  readonly id: number;
  readonly name: string;
  readonly kind: BotKind;
  readonly trigger: Trigger;
  readonly keywords: readonly string[];
  /** Set for the trigger `regex` only. */
  readonly pattern: string | null;
  readonly is_enabled: boolean;
  readonly priority: number;
  readonly others_may_answer: boolean;
  readonly cooldown_seconds: number;
  readonly hand_over_minutes: number;
  readonly reply: BotReply;
  readonly replies_count: number;
  readonly last_replied_at: string | null;
  readonly last_refusal: BotRefusal | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export const BOT_COLUMNS = [
  'id',
  'name',
  'kind',
  'trigger',
  'keywords',
  'pattern',
  'is_enabled',
  'priority',
  'others_may_answer',
  'cooldown_seconds',
  'hand_over_minutes',
  'reply',
  'replies_count',
  'last_replied_at',
  'last_refusal',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof BotRow)[];

/** A bot in events and webhooks, with the names of REST. */
export type PublicBot = Omit<BotRow, 'reply'> & { readonly reply: JsonObject };

export const publicBot = (bot: BotRow): PublicBot => ({ ...bot, reply: toWire(bot.reply) as JsonObject });

/** The part of a bot that matched a message. */
export interface Rule {
  readonly trigger: Trigger;
  /** The keyword or pattern that matched; null if the trigger has none. */
  readonly keyword: string | null;
}

/** Limits of a bot: characters, counts or the unit in the name. */
export const BOT_LIMITS = {
  name: 255,
  keywords: 50,
  keyword: 255,
  priority: 1_000_000,
  /** 30 days, for which replies are kept. */
  cooldownSeconds: 30 * 24 * 60 * 60,
  /** 7 days. */
  handOverMinutes: 7 * 24 * 60,
  /** Per tenant: every message is compared with all of them. */
  bots: 200,
} as const;

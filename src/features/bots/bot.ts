import type { JsonObject } from '../../platform/json.ts';
import { type BotReply, toWire } from './reply.ts';

export const TRIGGERS = ['exact', 'contains', 'starts_with', 'first_message', 'any', 'regex'] as const;
export type Trigger = (typeof TRIGGERS)[number];

export const KINDS = ['message', 'template'] as const;
export type BotKind = (typeof KINDS)[number];

/** Why an answer could not be sent. */
export interface BotRefusal {
  /** One of the codes of errors, or TOO_OLD or DISABLED. */
  readonly code: string;
  readonly message: string;
  readonly refused_at: string;
}

/** A bot as its table has it. */
export interface BotRow {
  readonly id: number;
  readonly name: string;
  readonly kind: BotKind;
  readonly trigger: Trigger;
  readonly keywords: readonly string[];
  /** Of the trigger `regex` alone. */
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

/** What decides on an answer and makes it, without what has come of it so far. */
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

/** A bot as events and webhooks carry it: the names of REST throughout. */
export type PublicBot = Omit<BotRow, 'reply'> & { readonly reply: JsonObject };

export const publicBot = (bot: BotRow): PublicBot => ({ ...bot, reply: toWire(bot.reply) as JsonObject });

/** What of a bot matched a message. */
export interface Rule {
  readonly trigger: Trigger;
  /** The keyword or the pattern that matched; null where the trigger has none. */
  readonly keyword: string | null;
}

/** What `bot.replied` tells. */
export interface PublicBotReply {
  readonly bot: PublicBot;
  readonly rule: Rule;
  readonly contact_id: number;
  /** The message that was answered. */
  readonly message_id: string;
  /** The answer. */
  readonly reply_message_id: string;
}

/** Bounds of a bot, in characters and counts. */
export const MAX = {
  name: 255,
  keywords: 50,
  keyword: 255,
  priority: 1_000_000,
  /** 30 days: so long replies are remembered. */
  cooldownSeconds: 30 * 24 * 60 * 60,
  /** 7 days. */
  handOverMinutes: 7 * 24 * 60,
  /** Of one tenant: every message is compared with all of them. */
  bots: 200,
} as const;

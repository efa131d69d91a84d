import type { PublicBot, Rule } from './bot.ts';

declare module '../../core/events.ts' {
  interface EventPayloads {
    /** A bot's reply was accepted for sending. */
    'bot.replied': PublicBotReply;
    /** A bot matched a message, but its reply was not sent. */
    'bot.skipped': PublicBotSkip;
  }
}

export interface PublicBotReply {
  readonly bot: PublicBot;
  readonly rule: Rule;
  readonly contact_id: number;
  /** The message that was answered. */
  readonly chat_message_id: string;
  /** The reply. */
  readonly reply_chat_message_id: string;
}

export interface PublicBotSkip {
  readonly bot: PublicBot;
  readonly rule: Rule;
  readonly contact_id: number;
  /** The message that was not answered. */
  readonly chat_message_id: string;
  /** TOO_OLD, DISABLED, HANDED_OVER, or the code of the error with which the reply was refused. */
  readonly reason: string;
  readonly details: string;
}

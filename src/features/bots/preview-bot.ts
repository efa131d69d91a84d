import { notFound } from '../../core/errors.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf, requireScope, tenantOf } from '../../core/principal.ts';
import type { Context } from '../../schema/context.ts';
import type { ContactRow } from '../contacts/contact.ts';
import { contactLoader } from '../contacts/loaders.ts';
import { readOptKeywords } from '../messages/opt-keywords.ts';
import { mergeFields } from '../messages/send/merge-fields.ts';
import type { BotRow } from './bot.ts';
import { connectedNumbers, haveWritten, NEVER_ANSWERED, readContactStates } from './engine/contact-state.sql.ts';
import { type ContactState, decide, isOverReplyLimit, type Silence, type Verdict } from './engine/decide.ts';
import { matchAll, matchInput, prepareBots } from './engine/match.ts';
import { Patterns } from './engine/pattern.ts';
import { type BotReply, withTexts } from './reply/reply.ts';
import { botsInOrder } from './store.ts';

export interface PreviewBotArgs {
  readonly text: string;
  readonly contactId: number | undefined;
  /** Without a contact: whether to treat the text as a first message. */
  readonly isFirstMessage: boolean;
}

export interface PreviewedBot extends Verdict<BotRow> {
  /** The reply, with merge fields filled if the contact is known. */
  readonly reply: BotReply;
}

export interface BotPreview {
  /** Why no bot would answer, whatever matches. */
  readonly silence: Silence | undefined;
  /** All bots in order of evaluation. */
  readonly bots: readonly PreviewedBot[];
}

/**
 * Simulates the bots' reply to a text without side effects. Does not check whether a template is approved or whether the network
 * would accept the reply.
 * @throws NOT_FOUND (contact), INSUFFICIENT_SCOPE (contacts:read, with a contact), FEATURE_NOT_AVAILABLE
 */
export async function previewBot(
  context: Context,
  { text, contactId, isFirstMessage }: PreviewBotArgs,
): Promise<BotPreview> {
  const caller = callerOf(context);
  requireFeature(caller.tenant, 'bots');
  if (contactId !== undefined) requireScope(caller, 'contacts:read');
  const contact = contactId === undefined ? undefined : await contactLoader(context).load(contactId);
  if (contactId !== undefined && !contact) throw notFound('Contact');
  const { read } = context.db;
  const { id: tenantId } = caller.tenant;
  const [bots, isFirst] = await Promise.all([
    botsInOrder(read, tenantId, 'all'),
    contact ? haveWritten(read, tenantId, [contact.id]).then(ids => !ids.has(contact.id)) : isFirstMessage,
  ]);
  const known = contact && (await readContactStates(read, tenantId, [contact.id], bots));
  const state = (contact && known?.states.get(contact.id)) ?? NEVER_ANSWERED;
  const now = known?.nowMs ?? context.clock.now();
  const input = matchInput([text], isFirst);
  const candidates = await matchAll(prepareBots(bots, new Patterns()), input);
  return {
    silence: await silenceOf(context, text, contact, state, now),
    bots: decide(candidates, state, now).map(verdict => ({
      ...verdict,
      reply: contact ? withTexts(verdict.bot.reply, words => mergeFields(words, contact)) : verdict.bot.reply,
    })),
  };
}

async function silenceOf(
  context: Context,
  text: string,
  contact: ContactRow | undefined,
  state: ContactState,
  nowMs: number,
): Promise<Silence | undefined> {
  const { read } = context.db;
  const wordOf = await readOptKeywords(read, tenantOf(context));
  const word = wordOf({ type: 'text', body: text });
  const isOut = contact !== undefined && contact.opted_out_at !== null;
  // An opt-in keyword has no effect on a contact that has not opted out: it is an ordinary word then.
  if (word === 'out' || (word === 'in' && isOut)) return 'OPT_WORD';
  if (!contact) return undefined;
  if (isOut) return 'OPTED_OUT';
  const isOwn = await connectedNumbers(read, [{ phone: contact.phone, phone_key: null, wa_id: null }]);
  if (isOwn({ phone: contact.phone, phone_key: null, wa_id: null })) return 'OWN_NUMBER';
  return isOverReplyLimit(state.repliedAt, nowMs) ? 'TOO_MANY_REPLIES' : undefined;
}

import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { callerOf, requireScope, tenantOf } from '../caller.ts';
import type { ContactRow } from '../contacts/contact.ts';
import { mergeFields } from '../messages/merge-fields.ts';
import { readOptWords } from '../messages/read-opt-words.ts';
import { requireFeature } from '../tenants/feature.ts';
import type { BotRow } from './bot.ts';
import { decide, isBraked, type Silence, type Standing, type Verdict } from './decide.ts';
import { heardOf, matchAll, readyOf } from './match.ts';
import { Patterns } from './pattern.ts';
import { type BotReply, withTexts } from './reply.ts';
import { NEVER_ANSWERED, ownNumbers, standingsOf } from './standing.ts';
import { haveWritten } from './standing-store.ts';
import { botsInOrder } from './store.ts';

export interface TestBotArgs {
  readonly text: string;
  readonly contactId: number | undefined;
  /** Of nobody in particular: whether it would be the first message. */
  readonly isFirstMessage: boolean;
}

export interface TestedBot extends Verdict<BotRow> {
  /** What it would answer, its merge fields filled where the contact is known. */
  readonly reply: BotReply;
}

export interface BotTest {
  /** Why nobody would answer, whatever matches. */
  readonly silence: Silence | undefined;
  /** All bots in the order in which they are asked. */
  readonly bots: readonly TestedBot[];
}

/**
 * What bots would answer to a text, now, without doing anything: whether a template is approved, and whether the network would
 * take the answer, is not asked.
 * @throws NOT_FOUND (contact), INSUFFICIENT_SCOPE (contacts:read, with a contact), FEATURE_NOT_AVAILABLE
 */
export async function testBot(context: Context, { text, contactId, isFirstMessage }: TestBotArgs): Promise<BotTest> {
  const caller = callerOf(context);
  requireFeature(caller.tenant, 'bots');
  if (contactId !== undefined) requireScope(caller, 'contacts:read');
  const contact = contactId === undefined ? undefined : await context.loaders.contact.load(contactId);
  if (contactId !== undefined && !contact) throw notFound('Contact');
  const { read } = context.db;
  const { id: tenantId } = caller.tenant;
  const [bots, isFirst] = await Promise.all([
    botsInOrder(read, tenantId, 'all'),
    contact ? haveWritten(read, tenantId, [contact.id]).then(ids => !ids.has(contact.id)) : isFirstMessage,
  ]);
  const now = context.clock.now();
  const standing =
    (contact && (await standingsOf(read, tenantId, [contact.id], bots, now)).get(contact.id)) ?? NEVER_ANSWERED;
  const heard = heardOf([text], isFirst);
  const candidates = await matchAll(readyOf(bots, new Patterns()), heard);
  return {
    silence: await silenceOf(context, text, contact, standing),
    bots: decide(candidates, standing, now).map(verdict => ({
      ...verdict,
      reply: contact ? withTexts(verdict.bot.reply, words => mergeFields(words, contact)) : verdict.bot.reply,
    })),
  };
}

async function silenceOf(
  context: Context,
  text: string,
  contact: ContactRow | undefined,
  standing: Standing,
): Promise<Silence | undefined> {
  const { read } = context.db;
  const wordOf = await readOptWords(read, tenantOf(context));
  const word = wordOf({ type: 'text', body: text });
  const isOut = contact !== undefined && contact.opted_out_at !== null;
  // Who has not left does not come back: the word is then one like any other.
  if (word === 'out' || (word === 'in' && isOut)) return 'OPT_WORD';
  if (!contact) return undefined;
  if (isOut) return 'OPTED_OUT';
  const isOwn = await ownNumbers(read, [{ phone: contact.phone, phone_key: null, wa_id: null }]);
  if (isOwn({ phone: contact.phone, phone_key: null, wa_id: null })) return 'OWN_NUMBER';
  return isBraked(standing.repliedAt, context.clock.now()) ? 'TOO_MANY_REPLIES' : undefined;
}

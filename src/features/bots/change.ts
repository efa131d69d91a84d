import type { Context } from '../../context.ts';
import { CodedError, invalid, notFound } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { differs } from '../../platform/differs.ts';
import { callerOf, tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { requireFeature } from '../tenants/feature.ts';
import { type BotKind, type BotRow, MAX } from './bot.ts';
import { checkReply } from './check-reply.ts';
import { type BotInput, parseBot } from './parse.ts';
import { burdenFault, MAX_PATTERN_BOTS } from './pattern.ts';
import type { BotReply } from './reply.ts';
import { countForMore, deleteBot, getBots, insertBot, lockBot, updateBot } from './store.ts';

type Keyed<T> = T & { readonly idempotencyKey?: string | null | undefined };

const kindOf = (reply: BotReply): BotKind => (reply.template ? 'template' : 'message');

/** Makes a bot. @throws VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, FEATURE_LIMIT_EXCEEDED, MESSAGING_NOT_CONFIGURED */
export async function createBot(context: Context, input: Keyed<BotInput>): Promise<BotRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'bots');
  const fields = parseBot(input, undefined);
  const reply = await checkReply(context, input.reply);
  return once(
    context,
    { operation: 'createBot', key: input.idempotencyKey, input },
    {
      run: async trx => {
        await requireRoom(trx, tenant.id, undefined, fields.pattern);
        return insertBot(trx, tenant.id, fields, kindOf(reply), reply);
      },
      store: bot => ({ id: bot.id }),
      again: stored => existing(context, (stored as { id: number }).id),
    },
  );
}

/**
 * Sees that there is room for a bot, and for its expression beside those of the others.
 * @param id of the bot that is changed; undefined for a new one
 * @throws FEATURE_LIMIT_EXCEEDED, VALIDATION_ERROR on pattern
 */
async function requireRoom(trx: Db, tenantId: number, id: number | undefined, pattern: string | null): Promise<void> {
  const { bots, patterns } = await countForMore(trx, tenantId, id);
  const refusal = (feature: string, current: number, maximum: number) =>
    new CodedError('FEATURE_LIMIT_EXCEEDED', `There may be at most ${maximum} ${feature}.`, {
      feature,
      current,
      maximum,
    });
  if (id === undefined && bots >= MAX.bots) throw refusal('bots', bots, MAX.bots);
  if (pattern === null) return;
  if (patterns.length >= MAX_PATTERN_BOTS)
    throw refusal('bots with a regular expression', patterns.length, MAX_PATTERN_BOTS);
  const fault = burdenFault(pattern, patterns);
  if (fault !== undefined) throw invalid({ pattern: [fault] });
}

async function existing(context: Context, id: number): Promise<BotRow> {
  const [bot] = await getBots(context.db.write, tenantOf(context), [id]);
  if (!bot) throw notFound('Bot');
  return bot;
}

/** Changes what is given. What changes nothing leaves the bot as it is, with its time. @throws NOT_FOUND, VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, FEATURE_LIMIT_EXCEEDED */
export async function changeBot(context: Context, id: number, input: Keyed<BotInput>): Promise<BotRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'bots');
  // Before the input is looked at: another tenant's bot is not there, whatever is said of it.
  await existing(context, id);
  const given = input.reply == null ? undefined : asStored(await checkReply(context, input.reply));
  return once(
    context,
    { operation: 'updateBot', key: input.idempotencyKey, input: { ...input, id } },
    {
      run: async trx => {
        // The tenant's row first, as every creation does.
        if (input.trigger === 'regex' || input.pattern != null) await countForMore(trx, tenant.id, id);
        const before = await lockBot(trx, tenant.id, id);
        if (!before) throw notFound('Bot');
        const fields = parseBot(input, before);
        if (fields.pattern !== null && fields.pattern !== before.pattern)
          await requireRoom(trx, tenant.id, id, fields.pattern);
        const reply = given ?? before.reply;
        const kind = kindOf(reply);
        return differs(before, { ...fields, kind, reply })
          ? updateBot(trx, tenant.id, id, fields, kind, reply)
          : before;
      },
      store: bot => ({ id: bot.id }),
      again: () => existing(context, id),
    },
  );
}

/** As the database gives it back: what comes from a literal in a document has no prototype, and would never equal it. */
const asStored = (reply: BotReply): BotReply => JSON.parse(JSON.stringify(reply)) as BotReply;

/** Takes a bot away; what it has answered stays. @throws NOT_FOUND */
export async function removeBot(context: Context, id: number): Promise<BotRow> {
  const bot = await deleteBot(context.db.write, tenantOf(context), id);
  if (!bot) throw notFound('Bot');
  return bot;
}

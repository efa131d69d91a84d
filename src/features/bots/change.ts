import { CodedError, FieldErrorList, invalid, notFound } from '../../core/errors.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { differs } from '../../platform/differs.ts';
import type { Context } from '../../schema/context.ts';
import { once, type WithKey } from '../tenancy/idempotency/once.ts';
import { BOT_LIMITS, type BotKind, type BotRow } from './bot.ts';
import { type BotInput, parseBot } from './engine/parse.ts';
import { MAX_PATTERN_BOTS, totalSizeFault } from './engine/pattern.ts';
import { checkReply } from './reply/check-reply.ts';
import type { BotReply } from './reply/reply.ts';
import { countForMore, deleteBot, getBots, insertBot, lockBot, updateBot } from './store.ts';

const kindOf = (reply: BotReply): BotKind => (reply.template ? 'template' : 'message');

/** Creates a bot. @throws VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, FEATURE_LIMIT_EXCEEDED, MESSAGING_NOT_CONFIGURED */
export async function createBot(context: Context, input: WithKey<BotInput>): Promise<BotRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'bots');
  const { fields, reply } = await checkInput(context, input);
  return once(
    context,
    { operation: 'createBot', key: input.idempotencyKey, input },
    {
      run: async trx => {
        await requireBotQuota(trx, tenant.id, undefined, fields.pattern);
        return insertBot(trx, tenant.id, fields, kindOf(reply), reply);
      },
      store: bot => ({ id: bot.id }),
      rebuild: stored => requireBot(context, (stored as { id: number }).id),
    },
  );
}

/** Checks the fields and the reply of a new bot, all at once. */
async function checkInput(context: Context, input: BotInput) {
  const errors = new FieldErrorList();
  const fields = await errors.collect(async () => parseBot(input, undefined));
  try {
    const reply = await errors.collect(() => checkReply(context, input.reply));
    if (fields && reply) return { fields, reply };
  } catch (error) {
    if (errors.isEmpty || !(error instanceof CodedError)) throw error;
  }
  throw errors.toError();
}

/**
 * Checks the tenant's limits on bots and on the total size of their patterns.
 * @param id the bot that is changed; undefined for a new one
 * @throws FEATURE_LIMIT_EXCEEDED, VALIDATION_ERROR on pattern
 */
async function requireBotQuota(
  trx: Db,
  tenantId: number,
  id: number | undefined,
  pattern: string | null,
): Promise<void> {
  const { bots, patterns } = await countForMore(trx, tenantId, id);
  const refusal = (feature: string, current: number, maximum: number) =>
    new CodedError('FEATURE_LIMIT_EXCEEDED', `There may be at most ${maximum} ${feature}.`, {
      details: { feature, current, maximum },
    });
  if (id === undefined && bots >= BOT_LIMITS.bots) throw refusal('bots', bots, BOT_LIMITS.bots);
  if (pattern === null) return;
  if (patterns.length >= MAX_PATTERN_BOTS)
    throw refusal('bots with a regular expression', patterns.length, MAX_PATTERN_BOTS);
  const fault = totalSizeFault(pattern, patterns);
  if (fault !== undefined) throw invalid({ pattern: [fault] });
}

async function requireBot(context: Context, id: number): Promise<BotRow> {
  const [bot] = await getBots(context.db.read, tenantOf(context), [id]);
  if (!bot) throw notFound('Bot');
  return bot;
}

/**
 * Updates the given fields. Without a difference, `updated_at` does not change.
 * @throws NOT_FOUND, VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, FEATURE_LIMIT_EXCEEDED
 */
export async function changeBot(context: Context, id: number, input: WithKey<BotInput>): Promise<BotRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'bots');
  // Before the input is checked: for another tenant's bot the error is always NOT_FOUND.
  await requireBot(context, id);
  const given = input.reply == null ? undefined : asStored(await checkReply(context, input.reply));
  return once(
    context,
    { operation: 'updateBot', key: input.idempotencyKey, input: { ...input, id } },
    {
      run: async trx => {
        // Lock order: the tenant's row before the bot's, as in createBot.
        if (input.trigger === 'regex' || input.pattern != null) await countForMore(trx, tenant.id, id);
        const before = await lockBot(trx, tenant.id, id);
        if (!before) throw notFound('Bot');
        const fields = parseBot(input, before);
        if (fields.pattern !== null && fields.pattern !== before.pattern)
          await requireBotQuota(trx, tenant.id, id, fields.pattern);
        const reply = given ?? before.reply;
        const kind = kindOf(reply);
        return differs(before, { ...fields, kind, reply })
          ? updateBot(trx, tenant.id, id, fields, kind, reply)
          : before;
      },
      store: bot => ({ id: bot.id }),
      rebuild: () => requireBot(context, id),
    },
  );
}

/** As the database returns it: objects from literals of a GraphQL document have no prototype and would never compare equal. */
const asStored = (reply: BotReply): BotReply => JSON.parse(JSON.stringify(reply)) as BotReply;

/** Deletes a bot. Its messages stay. @throws NOT_FOUND */
export const removeBot = (context: Context, id: number, idempotencyKey: string | null | undefined): Promise<void> =>
  once<void>(
    context,
    { operation: 'deleteBot', key: idempotencyKey, input: { id } },
    {
      run: async trx => {
        if (!(await deleteBot(trx, tenantOf(context), id))) throw notFound('Bot');
      },
      store: () => ({ id }),
      rebuild: async () => undefined,
    },
  );

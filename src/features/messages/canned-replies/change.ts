import { notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { refuseTaken } from '../../../database/violations.ts';
import type { Context } from '../../../schema/context.ts';
import { once, type WithKey } from '../../tenancy/idempotency/once.ts';
import { contentFieldsOf } from '../send/content-fields.ts';
import type { GivenContent } from '../send/content-schema.ts';
import { type CannedReplyInput, type CannedReplyRow, parseCannedReply } from './canned-reply.ts';
import { checkContent } from './check-content.ts';
import { deleteCannedReply, getCannedReplies, insertCannedReply, updateCannedReply } from './store.ts';

const withUniqueShortcut = <Result>(work: () => Promise<Result>): Promise<Result> =>
  refuseTaken('canned_replies_shortcut_key', { shortcut: ['Another canned reply has this shortcut.'] }, work);

async function requireCannedReply(context: Context, id: number): Promise<CannedReplyRow> {
  const [reply] = await getCannedReplies(context.db.write, tenantOf(context), [id]);
  if (!reply) throw notFound('Canned reply');
  return reply;
}

/** @throws VALIDATION_ERROR, FEATURE_NOT_AVAILABLE */
export async function createCannedReply(
  context: Context,
  input: WithKey<CannedReplyInput & { readonly content: GivenContent }>,
): Promise<CannedReplyRow> {
  const { shortcut = '', title = '' } = parseCannedReply(input, false);
  const { idempotencyKey } = input;
  const content = contentFieldsOf(input.content);
  await checkContent(context, content);
  return withUniqueShortcut(() =>
    once(
      context,
      { operation: 'createCannedReply', key: idempotencyKey, input },
      {
        run: trx => insertCannedReply(trx, tenantOf(context), { shortcut, title, content }),
        store: ({ id }) => ({ id }),
        rebuild: stored => requireCannedReply(context, (stored as { id: number }).id),
      },
    ),
  );
}

/** @throws NOT_FOUND, VALIDATION_ERROR, FEATURE_NOT_AVAILABLE */
export async function changeCannedReply(
  context: Context,
  id: number,
  input: WithKey<CannedReplyInput>,
): Promise<CannedReplyRow> {
  const texts = parseCannedReply(input, true);
  const content = input.content && contentFieldsOf(input.content);
  if (content) await checkContent(context, content);
  return withUniqueShortcut(() =>
    once(
      context,
      { operation: 'updateCannedReply', key: input.idempotencyKey, input: { ...input, id } },
      {
        run: async trx => {
          const reply = await updateCannedReply(trx, tenantOf(context), id, { ...texts, ...(content && { content }) });
          if (!reply) throw notFound('Canned reply');
          return reply;
        },
        store: () => ({ id }),
        rebuild: () => requireCannedReply(context, id),
      },
    ),
  );
}

/** Deletes a canned reply; messages that were sent with it stay. @throws NOT_FOUND */
export const removeCannedReply = (context: Context, id: number, idempotencyKey?: string | null): Promise<number> =>
  once(
    context,
    { operation: 'deleteCannedReply', key: idempotencyKey, input: { id } },
    {
      run: async trx => {
        if (!(await deleteCannedReply(trx, tenantOf(context), id))) throw notFound('Canned reply');
        return id;
      },
      store: () => ({ id }),
      rebuild: async () => id,
    },
  );

import { notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { refuseTaken } from '../../../database/violations.ts';
import type { Context } from '../../../schema/context.ts';
import { once, type WithKey } from '../../tenancy/idempotency/once.ts';
import { deleteTag, getTags, insertTag, updateTag } from './store.ts';
import { DEFAULT_COLOR, parseTag, type TagInput, type TagRow } from './tag.ts';

const withUniqueName = <Result>(work: () => Promise<Result>): Promise<Result> =>
  refuseTaken('tags_name_key', { name: ['Another tag has this name.'] }, work);

async function requireTag(context: Context, id: number): Promise<TagRow> {
  const [tag] = await getTags(context.db.write, tenantOf(context), [id]);
  if (!tag) throw notFound('Tag');
  return tag;
}

/** @throws VALIDATION_ERROR */
export const createTag = (context: Context, input: WithKey<TagInput>): Promise<TagRow> => {
  const { name = '', color = DEFAULT_COLOR } = parseTag(input, false);
  return withUniqueName(() =>
    once(
      context,
      { operation: 'createTag', key: input.idempotencyKey, input },
      {
        run: trx => insertTag(trx, tenantOf(context), { name, color }),
        store: ({ id }) => ({ id }),
        rebuild: stored => requireTag(context, (stored as { id: number }).id),
      },
    ),
  );
};

/** @throws NOT_FOUND, VALIDATION_ERROR */
export const changeTag = (context: Context, id: number, input: WithKey<TagInput>): Promise<TagRow> => {
  const fields = parseTag(input, true);
  return withUniqueName(() =>
    once(
      context,
      { operation: 'updateTag', key: input.idempotencyKey, input: { ...input, id } },
      {
        run: async trx => {
          const tag = await updateTag(trx, tenantOf(context), id, fields);
          if (!tag) throw notFound('Tag');
          return tag;
        },
        store: () => ({ id }),
        rebuild: () => requireTag(context, id),
      },
    ),
  );
};

/** Deletes a tag, and takes it from all conversations, without events for them. @throws NOT_FOUND */
export const removeTag = (context: Context, id: number, idempotencyKey?: string | null): Promise<number> =>
  once(
    context,
    { operation: 'deleteTag', key: idempotencyKey, input: { id } },
    {
      run: async trx => {
        if (!(await deleteTag(trx, tenantOf(context), id))) throw notFound('Tag');
        return id;
      },
      store: () => ({ id }),
      rebuild: async () => id,
    },
  );

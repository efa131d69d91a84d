import { FieldErrorList, notFound } from '../../../../core/errors.ts';
import { newId } from '../../../../core/ids.ts';
import { requireFeature } from '../../../../core/plan-features.ts';
import { callerOf } from '../../../../core/principal.ts';
import type { MediaType } from '../../../../network/network.ts';
import { HOUR } from '../../../../platform/clock.ts';
import { isLonger, isStorable } from '../../../../platform/text.ts';
import type { Context } from '../../../../schema/context.ts';
import { once } from '../../../tenancy/idempotency/once.ts';
import { channelFor } from './channel.ts';
import { MAX_FILENAME, type MediaRow, nameOnly } from './file.ts';
import { getMedia, insertPending } from './store.ts';

export interface UploadInput {
  readonly kind?: MediaType | null | undefined;
  readonly filename?: string | null | undefined;
  readonly mimeType?: string | null | undefined;
  readonly channelId?: number | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/** Time in which the file must be uploaded. */
const WAITS_MS = HOUR;

/**
 * Creates an upload; its file follows with `PUT`. GraphQL multipart requests are not used: they are buffered, mix files with
 * operations, and browsers send them without a preflight.
 * @throws VALIDATION_ERROR, NOT_FOUND (channel), MESSAGING_NOT_CONFIGURED, FEATURE_NOT_AVAILABLE
 */
export async function createUpload(context: Context, input: UploadInput): Promise<MediaRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'media');
  const { filename = null, mimeType = null } = input;
  const kind = input.kind ?? null;
  const errors = new FieldErrorList();
  if (filename !== null && (isLonger(filename, MAX_FILENAME) || !isStorable(filename) || nameOnly(filename) === ''))
    errors.add('filename', `Must have 1 to ${MAX_FILENAME} characters.`, filename === '' ? 'TOO_SHORT' : 'TOO_LONG');
  if (mimeType !== null && !/^[\w.+-]{1,60}\/[\w.+-]{1,100}(;.{0,100})?$/.test(mimeType))
    errors.add('mimeType', 'Must be a media type such as application/pdf.');
  errors.throwIfAny();
  const channelId = await channelFor(context, tenant.id, input.channelId ?? null);
  return once<MediaRow>(
    context,
    { operation: 'createMediaUpload', key: input.idempotencyKey, input },
    {
      run: trx =>
        insertPending(trx, tenant.id, {
          id: newId(),
          channelId,
          kind,
          filename: filename === null ? null : nameOnly(filename),
          mimeType,
          waitsMs: WAITS_MS,
        }),
      store: ({ id }) => ({ id }),
      rebuild: async stored => {
        const [media] = await getMedia(context.db.write, tenant.id, [(stored as { id: string }).id]);
        if (!media) throw notFound('Media');
        return media;
      },
    },
  );
}

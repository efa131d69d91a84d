import type { FieldErrorList } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import type { ChannelCredentials } from '../../network/network.ts';
import { asObject, asText, type JsonObject } from '../../platform/json.ts';
import type { Context } from '../../schema/context.ts';
import { mediaIdOf, type StoredMedia } from '../messages/content/media/file.ts';
import { createMediaReader } from '../messages/content/media/open.ts';
import { mediaOf } from '../messages/content/media/send-media.ts';
import { headerKindOf } from './template.ts';

/**
 * Finds the upload that the header gives as its example: `example: { media_id }`, where the network has `example: { header_handle }`.
 * Faults are added at `components.<index>.example.media_id`.
 */
export async function findExample(
  context: Context,
  components: readonly unknown[],
  errors: FieldErrorList,
): Promise<StoredMedia | undefined> {
  for (const [index, value] of components.entries()) {
    const component = asObject(value) ?? {};
    const kind = headerKindOf(component);
    const id = asText(asObject(component['example'])?.['media_id']);
    if (kind === undefined || id === undefined) continue;
    const mediaId = mediaIdOf(tenantOf(context), id);
    return mediaOf(context, { kind, mediaId, channelId: undefined }, errors, `components.${index}.example.media_id`);
  }
  return undefined;
}

/**
 * Gives the network the file of an example, and the header the handle that the network returns.
 * @throws NetworkCallError, NOT_FOUND, SERVICE_UNAVAILABLE
 */
export async function withExample(
  context: Context,
  credentials: ChannelCredentials,
  components: readonly JsonObject[],
  { id, filename, mime_type: mimeType, size }: StoredMedia,
): Promise<readonly JsonObject[]> {
  const file = await createMediaReader(context).find(tenantOf(context), id, true);
  const { stream } = await file.open(undefined);
  const handle = await context.network.uploadExample(credentials, { stream, mimeType, filename, size });
  return components.map(component =>
    headerKindOf(component) === undefined ? component : { ...component, example: { header_handle: [handle] } },
  );
}

import { encodeGlobalId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { asObject } from '../../../platform/json.ts';
import { UserError, type UserErrorShape, userErrorRef } from '../../../schema/user-errors.ts';
import { decidingEntryId } from '../../contacts/consent/deciding-entry.ts';
import { ConsentCategoryEnum } from '../../contacts/consent/enums.ts';
import { ConsentEntry } from '../../contacts/consent/schema.ts';
import { consentEntryLoader } from '../../contacts/loaders.ts';
import type { MessageError } from '../message.ts';
import { MessageErrorType } from '../schema.ts';

/** User errors of sends, with their details. */

const textAt = ({ details }: UserErrorShape, name: string): string | null => {
  const value = details[name];
  return typeof value === 'string' ? value : null;
};

userErrorRef('WindowError').implement({
  description: 'The 24-hour service window is closed, and a free-form message was refused.',
  interfaces: [UserError],
  fields: t => ({
    windowExpiredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'End of the last window; null if the person never wrote.',
      resolve: error => textAt(error, 'windowExpiredAt'),
    }),
  }),
});

const CATEGORIES: ReadonlySet<unknown> = new Set(['all', 'marketing', 'utility']);

userErrorRef('ConsentError').implement({
  description: 'The contact asked not to be messaged.',
  interfaces: [UserError],
  fields: t => ({
    category: t.field({
      type: ConsentCategoryEnum,
      nullable: true,
      description:
        'The messages that the contact opted out of; null if a message that was already accepted was stopped.',
      resolve: ({ details: { category } }) =>
        CATEGORIES.has(category) ? (category as 'all' | 'marketing' | 'utility') : null,
    }),
    optedOutAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Time of the opt-out, or of the erasure if the person was erased since; null if a message that was already accepted was stopped.',
      resolve: error => textAt(error, 'opted_out_at'),
    }),
    entry: t.field({
      type: ConsentEntry,
      nullable: true,
      description: 'The entry that decides; null if the person was erased since.',
      authScopes: { scope: 'contacts:read' },
      resolve: async ({ details }, _args, context) => {
        const id = await decidingEntryId(context, details);
        return id === null ? null : ((await consentEntryLoader(context).load(id)) ?? null);
      },
    }),
    entryId: t.id({
      nullable: true,
      description: 'The databaseId of `entry`, for callers who may not read it.',
      resolve: ({ details }, _args, context) => decidingEntryId(context, details),
    }),
    messageId: t.id({
      nullable: true,
      description: 'Global id of the message that was accepted before the opt-out and stopped by it.',
      resolve: (error, _args, context) => messageIdOf(error, tenantOf(context)),
    }),
  }),
});

userErrorRef('NetworkError').implement({
  description: 'The messaging network refused the message, or it was cancelled.',
  interfaces: [UserError],
  fields: t => ({
    provider: t.field({
      type: MessageErrorType,
      nullable: true,
      description: "The network's error; null if there is none.",
      resolve: ({ details }) => (asObject(details['provider']) as MessageError | undefined) ?? null,
    }),
    messageId: t.id({
      nullable: true,
      description: 'Global id of the failed message; null if none was stored.',
      resolve: (error, _args, context) => messageIdOf(error, tenantOf(context)),
    }),
  }),
});

function messageIdOf(error: UserErrorShape, tenantId: number): string | null {
  const id = textAt(error, 'message_id');
  return id === null ? null : encodeGlobalId('Message', tenantId, id);
}

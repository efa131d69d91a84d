import { GraphQLSchema, isEnumType, specifiedDirectives } from 'graphql';
import { builder } from '../schema/builder.ts';
import '../schema/nodes-field.ts';
import '../schema/request-errors.ts';
import { requiresScopes, semanticNonNull } from '../schema/plugin.ts';
import '../features/tenancy/account/settings-schema.ts';
import '../features/bots/schema.ts';
import '../features/bots/history/history-schema.ts';
import '../features/bots/preview-schema.ts';
import '../features/campaigns/lists/preview-schema.ts';
import '../features/campaigns/preview/schema.ts';
import '../features/campaigns/recipients/schema.ts';
import '../features/campaigns/run/test-schema.ts';
import '../features/campaigns/schema.ts';
import '../features/channels/schema.ts';
import '../features/channels/change-schema.ts';
import '../features/channels/health-schema.ts';
import '../features/contacts/batch-schema.ts';
import '../features/contacts/consent/schema.ts';
import '../features/contacts/erasure/schema.ts';
import '../features/contacts/exports/schema.ts';
import '../features/contacts/merging/schema.ts';
import '../features/contacts/mutation-schema.ts';
import '../features/contacts/schema.ts';
import '../schema/countries.ts';
import '../features/events/actor-schema.ts';
import '../features/events/delivered-event-schema.ts';
import '../features/conversations/batch-schema.ts';
import '../features/conversations/counts-schema.ts';
import '../features/conversations/group-chats-schema.ts';
import '../features/conversations/notes/schema.ts';
import '../features/conversations/presence/schema.ts';
import '../features/conversations/schema.ts';
import '../features/events/rates-schema.ts';
import '../features/events/schema.ts';
import '../features/events/types-schema.ts';
import '../features/inbox/schema.ts';
import '../features/integrations/orders/delivery-schema.ts';
import '../features/integrations/mappings/mapping-schema.ts';
import '../features/integrations/orders/replay-schema.ts';
import '../features/integrations/schema.ts';
import '../features/messages/canned-replies/schema.ts';
import '../features/messages/content/interactive/schema.ts';
import '../features/contacts/labels/schema.ts';
import '../features/contacts/saved-filters/schema.ts';
import '../features/messages/content/media/schema.ts';
import '../features/messages/schema.ts';
import '../features/messages/links-schema.ts';
import '../features/messages/additions-schema.ts';
import '../features/messages/pricing/schema.ts';
import '../features/messages/pricing/cost-entries-schema.ts';
import '../features/messages/statistics/schema.ts';
import '../features/campaigns/costs-schema.ts';
import '../features/messages/content/union-schema.ts';
import '../features/messages/scheduling/schema.ts';
import '../features/messages/send/send-messages-schema.ts';
import '../features/messages/send/send-schema.ts';
import '../features/messages/send/retry-schema.ts';
import '../features/otp/schema.ts';
import '../features/documents/schema.ts';
import '../features/tenancy/sessions/schema.ts';
import '../features/tenancy/staff/schema.ts';
import '../features/templates/change-schema.ts';
import '../features/templates/schema.ts';
import '../features/templates/sending/preview-schema.ts';
import '../features/templates/sending/send-schema.ts';
import '../features/tenancy/tenants/schema.ts';
import '../features/tenancy/tokens/schema.ts';
import '../features/webhooks/log/deliveries-schema.ts';
import '../features/webhooks/log/replay-schema.ts';
import '../features/webhooks/schema.ts';
import './lanes/schema.ts';

/** The whole schema. Importing it touches no database. */
export const schema = withDirectives(builder.toSchema());

/** Adds our directives. The argument of `@requiresScopes` has an enum of the schema as its type, so the types come first. */
function withDirectives(types: GraphQLSchema): GraphQLSchema {
  const scope = types.getType('Scope');
  if (!isEnumType(scope)) throw new Error('The schema has no enum Scope.');
  return new GraphQLSchema({
    ...types.toConfig(),
    directives: [...specifiedDirectives, requiresScopes(scope), semanticNonNull],
  });
}

import { builder } from '../schema/builder.ts';
import '../features/tenancy/account/schema.ts';
import '../features/bots/schema.ts';
import '../features/bots/test-schema.ts';
import '../features/channels/schema.ts';
import '../features/contacts/schema.ts';
import '../schema/countries/schema.ts';
import '../features/events/schema.ts';
import '../features/events/typed-schema.ts';
import '../features/integrations/orders/delivery-schema.ts';
import '../features/integrations/mappings/mapping-schema.ts';
import '../features/integrations/orders/replay-schema.ts';
import '../features/integrations/schema.ts';
import '../features/messages/content/interactive/schema.ts';
import '../features/contacts/labels/schema.ts';
import '../features/messages/content/media/schema.ts';
import '../features/messages/schema.ts';
import '../features/otp/schema.ts';
import '../features/messages/content/received/schema.ts';
import '../features/tenancy/staff/schema.ts';
import '../features/templates/schema.ts';
import '../features/templates/sending/send-schema.ts';
import '../features/tenancy/tenants/schema.ts';
import '../features/tenancy/tokens/schema.ts';
import '../features/webhooks/log/deliveries-schema.ts';
import '../features/webhooks/schema.ts';

/** The whole schema. Importing it touches no database. */
export const schema = builder.toSchema();

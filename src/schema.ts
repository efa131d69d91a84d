import { builder } from './builder.ts';
import './features/account/schema.ts';
import './features/bots/schema.ts';
import './features/bots/test-schema.ts';
import './features/channels/schema.ts';
import './features/contacts/schema.ts';
import './features/countries/schema.ts';
import './features/events/schema.ts';
import './features/events/typed-schema.ts';
import './features/integrations/delivery-schema.ts';
import './features/integrations/mapping-schema.ts';
import './features/integrations/replay-schema.ts';
import './features/integrations/schema.ts';
import './features/interactive/schema.ts';
import './features/labels/schema.ts';
import './features/media/schema.ts';
import './features/messages/schema.ts';
import './features/otp/schema.ts';
import './features/received/schema.ts';
import './features/staff/schema.ts';
import './features/templates/schema.ts';
import './features/templates/send-schema.ts';
import './features/tenants/schema.ts';
import './features/tokens/schema.ts';
import './features/webhooks/deliveries-schema.ts';
import './features/webhooks/schema.ts';

/** The whole schema. Importing it touches no database. */
export const schema = builder.toSchema();

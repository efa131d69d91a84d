import { builder } from './builder.ts';
import './features/account/schema.ts';
import './features/channels/schema.ts';
import './features/contacts/schema.ts';
import './features/countries/schema.ts';
import './features/events/schema.ts';
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

/** The whole schema. Importing it touches no database. */
export const schema = builder.toSchema();

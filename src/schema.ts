import { builder } from './builder.ts';
import './features/channels/schema.ts';
import './features/contacts/schema.ts';
import './features/events/schema.ts';
import './features/labels/schema.ts';
import './features/messages/schema.ts';
import './features/tenants/schema.ts';
import './features/tokens/schema.ts';

/** The whole schema. Importing it touches no database. */
export const schema = builder.toSchema();

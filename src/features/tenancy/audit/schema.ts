import type { Author as AuthorRow } from '../../../core/author.ts';
import { builder } from '../../../schema/builder.ts';

export const AuthorKind = builder.enumType('AuthorKind', {
  description: 'What kind of actor did something.',
  values: {
    TOKEN: { value: 'token', description: 'A program, with an access token.' },
    STAFF: { value: 'staff', description: 'A member of staff.' },
    BOT: { value: 'bot', description: 'A bot of the account.' },
    CAMPAIGN: { value: 'campaign', description: 'A campaign of the account.' },
    INTEGRATION: { value: 'integration', description: 'An integration, such as a shop.' },
    OTP: { value: 'otp', description: 'A one-time password.' },
    PHONE_APP: { value: 'phone_app', description: 'The app of the business on a phone.' },
    SYSTEM: { value: 'system', description: 'The gateway, or its operator.' },
  } as const,
});

/** Author of a change, as stored with it. */
export const Author = builder.objectRef<AuthorRow>('Author').implement({
  description: 'Who did something, with the name at that time.',
  fields: t => ({
    kind: t.expose('kind', { type: AuthorKind, description: 'Kind of actor.' }),
    displayName: t.exposeString('name', { description: 'Name of the actor at that time.' }),
  }),
});

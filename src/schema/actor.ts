import { builder } from './builder.ts';

/** Actor of a change. Features add the interface to their types. */
export const Actor = builder.interfaceRef<object>('Actor').implement({
  description: 'A person, program or campaign that acts in the account.',
  interfaces: [builder.nodeInterfaceRef()],
  fields: t => ({
    displayName: t.string({
      description: 'Name for people; the phone number of a contact without one.',
      resolve: () => {
        throw new Error('A type that implements Actor resolves displayName itself.');
      },
    }),
  }),
});

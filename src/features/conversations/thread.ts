import { builder } from '../../schema/builder.ts';
import { channelLoader } from '../channels/loaders.ts';
import { Channel } from '../channels/schema.ts';
import { Message, MessageConnection } from '../messages/schema.ts';

/** Common shape of the types of threads; each resolves its own fields. */
interface ThreadShape {
  readonly channel_id: number;
}

export const threadArgs = () =>
  builder.args(t => ({
    first: t.int({ description: 'Return this many messages from the oldest (1 to 100; default 20).' }),
    after: t.string({ description: 'Return the messages after this cursor.' }),
    last: t.int({ description: 'Return this many messages up to the newest (1 to 100).' }),
    before: t.string({ description: 'Return the messages before this cursor.' }),
    around: t.id({
      description: 'Return the messages around this one: half of `first` or `last` before it, the rest from it on.',
    }),
  }));

const unresolved = (): never => {
  throw new Error('A type that implements Thread resolves its fields itself.');
};

export const Thread = builder.interfaceRef<ThreadShape>('Thread').implement({
  description: 'A conversation with a contact, or a group chat.',
  interfaces: [builder.nodeInterfaceRef()],
  fields: t => ({
    channel: t.field({
      type: Channel,
      nullable: true,
      description: 'The channel of the thread.',
      authScopes: { scope: 'channels:read' },
      resolve: (thread, _args, context) => channelLoader(context).load(thread.channel_id),
    }),
    lastMessage: t.field({
      type: Message,
      nullable: true,
      description: 'The last message, without reactions; null if there is none.',
      authScopes: { scope: 'messages:read' },
      resolve: unresolved,
    }),
    lastActivityAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last message; one-time passwords do not count.',
      resolve: unresolved,
    }),
    messages: t.field({
      type: MessageConnection,
      nullable: true,
      description: 'The messages, oldest first, without reactions.',
      authScopes: { scope: 'messages:read' },
      args: { ...threadArgs() },
      resolve: unresolved,
    }),
  }),
});

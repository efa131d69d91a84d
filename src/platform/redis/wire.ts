import { randomUUID } from 'node:crypto';
import type { Wire } from '../signals.ts';
import type { RedisConnection } from './connection.ts';

/**
 * Signals by Redis' PUBLISH. The connection belongs to whoever made it, and outlives the wire.
 * @param prefix of the channel: its messages reach every database of a Redis, so several installations must differ in it
 */
export function redisWire({ commands, subscriber, isReady }: RedisConnection, prefix: string): Wire {
  const channel = `${prefix}:signals`;
  // A process hears what it publishes: its name stands before the topics.
  const me = randomUUID();
  const listen = (): void => void subscriber.subscribe(channel).catch(() => undefined);
  return {
    open({ heard, ready }) {
      subscriber.on('ready', listen).on('message', (_channel: string, message: string) => {
        const space = message.indexOf(' ');
        if (message.slice(0, space) !== me) heard(message.slice(space + 1));
      });
      if (subscriber.status === 'ready') listen();
      commands.on('ready', ready);
    },
    isReady,
    async send(message) {
      await commands.publish(channel, `${me} ${message}`).catch(() => undefined);
    },
    async close() {
      subscriber.off('ready', listen);
      if (subscriber.status === 'ready') await subscriber.unsubscribe(channel).catch(() => undefined);
    },
  };
}

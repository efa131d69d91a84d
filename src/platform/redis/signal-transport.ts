import { randomUUID } from 'node:crypto';
import type { Wire } from '../signals.ts';
import type { RedisConnection } from './connection.ts';

/**
 * Signals over Redis PUBLISH. The connection belongs to the caller and is not closed with the wire.
 * @param prefix of the channel; must differ between installations that share a Redis, because channels span its databases
 */
export function redisWire({ commands, subscriber, isReady }: RedisConnection, prefix: string): Wire {
  const channel = `${prefix}:signals`;
  // A process receives its own messages: they are recognised by its id at the beginning.
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

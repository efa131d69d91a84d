import { randomUUID } from 'node:crypto';
import type { SignalTransport } from '../signals.ts';
import type { RedisConnection } from './connection.ts';

/**
 * Signals over Redis PUBLISH. The connection belongs to the caller and is not closed with the transport.
 * @param prefix of the channel; must differ between installations that share a Redis, because channels span its databases
 */
export function createRedisTransport(
  { commands, subscriber, isReady }: RedisConnection,
  prefix: string,
): SignalTransport {
  const channel = `${prefix}:signals`;
  // Redis also delivers a process's own messages: each message starts with the sender's id.
  const senderId = randomUUID();
  const listen = (): void => void subscriber.subscribe(channel).catch(() => undefined);
  return {
    open({ onMessage, onReady }) {
      subscriber.on('ready', listen).on('message', (_channel: string, message: string) => {
        const space = message.indexOf(' ');
        if (message.slice(0, space) !== senderId) onMessage(message.slice(space + 1));
      });
      if (subscriber.status === 'ready') listen();
      commands.on('ready', onReady);
    },
    isReady,
    async send(message) {
      await commands.publish(channel, `${senderId} ${message}`).catch(() => undefined);
    },
    async close() {
      subscriber.off('ready', listen);
      if (subscriber.status === 'ready') await subscriber.unsubscribe(channel).catch(() => undefined);
    },
  };
}

import { randomUUID } from 'node:crypto';
import type { SignalTransport } from '../signals.ts';
import type { RedisConnection } from './connection.ts';

/** The channel of an installation. */
export const signalChannel = (prefix: string): string => `${prefix}:signals`;

/**
 * Signals over Redis PUBLISH. The connection belongs to the caller and is not closed with the transport.
 * @param prefix of the channel; must differ between installations that share a Redis, because channels span its databases
 */
export function createRedisTransport(
  { commands, subscriber, isReady, onFailure }: RedisConnection,
  prefix: string,
): SignalTransport {
  const channel = signalChannel(prefix);
  // Redis also delivers a process's own messages: each message starts with the sender's id.
  const senderId = randomUUID();
  // A user of Redis may have no permission for channels: since version 7, by default.
  const onRefused = (error: unknown): void => onFailure(error, 'signals between processes are delayed');
  const listen = (): void => void subscriber.subscribe(channel).catch(onRefused);
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
      await commands.publish(channel, `${senderId} ${message}`).catch(onRefused);
    },
    async close() {
      subscriber.off('ready', listen);
      if (subscriber.status === 'ready') await subscriber.unsubscribe(channel).catch(() => undefined);
    },
  };
}

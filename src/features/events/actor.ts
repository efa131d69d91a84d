import type { Author } from '../../core/author.ts';
import { resourceOf } from '../../core/events.ts';
import type { LoggedEvent } from '../../events/bus.ts';

interface Named {
  readonly id: number;
  readonly name: string;
}

/** Fields of payloads that identify the actor of an event. */
interface Payload {
  readonly message?: { readonly author?: Author | null };
  readonly receipt?: { readonly author?: Author };
  readonly export?: { readonly author?: Author };
  readonly bot?: Named;
  readonly integration?: Named;
}

/** Events of a message that are another person's or the network's doing: not those of its sender. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  'message.received',
  'message.edited',
  'message.revoked',
  'message.reaction',
]);

/** Actor of an event, from its payload: with the name at that time. */
export function actorOf({ type, payload }: Pick<LoggedEvent, 'type' | 'payload'>): Author | null {
  const { message, receipt, export: file, bot, integration } = payload as Payload;
  switch (resourceOf(type)) {
    case 'message':
      return OF_OTHERS.has(type) ? null : (message?.author ?? null);
    case 'contact':
      return receipt?.author ?? null;
    case 'export':
      return file?.author ?? null;
    case 'bot':
      return bot ? { kind: 'bot', id: bot.id, name: bot.name } : null;
    case 'order':
      return integration ? { kind: 'integration', id: integration.id, name: integration.name } : null;
    default:
      return null;
  }
}

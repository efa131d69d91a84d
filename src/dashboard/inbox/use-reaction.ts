import { useEffect, useState } from 'react';
import { type CombinedError, useMutation } from 'urql';
import { type InboxEventsSubscription, ReactToMessageDocument } from '../documents.generated.ts';
import type { UserError } from '../ui/user-errors.tsx';

/** Said on `window` of a reaction that the network refused. */
const REACTION_FAILED = 'parley:reaction-failed';

type EventMessage = NonNullable<
  Extract<InboxEventsSubscription['events'], { readonly __typename: 'MessageEvent' }>['message']
>;

/** Tells the message that was reacted to, if an event is of a reaction that failed: a reaction has no bubble of its own. */
export function reportFailedReaction({ events }: InboxEventsSubscription): void {
  if (events.__typename !== 'MessageEvent' || events.type !== 'MESSAGE_FAILED') return;
  const { message } = events;
  if (message?.type === 'REACTION') window.dispatchEvent(new CustomEvent(REACTION_FAILED, { detail: message }));
}

export interface Reaction {
  /** @param emoji '' takes the reaction back */
  readonly react: (emoji: string) => void;
  readonly errors: readonly UserError[];
  readonly failure: CombinedError | undefined;
  /** The last reaction, if the network refused it. */
  readonly refused: EventMessage | undefined;
}

/** Reacts to a message, and follows what becomes of it. */
export function useReaction(messageId: string): Reaction {
  const [result, mutate] = useMutation(ReactToMessageDocument);
  const [refused, setRefused] = useState<EventMessage>();
  useEffect(() => {
    const listen = (event: Event): void => {
      const message = (event as CustomEvent<EventMessage>).detail;
      if (message.replyTo?.id === messageId) setRefused(message);
    };
    window.addEventListener(REACTION_FAILED, listen);
    return () => window.removeEventListener(REACTION_FAILED, listen);
  }, [messageId]);
  return {
    react(emoji) {
      setRefused(undefined);
      void mutate({ input: { id: messageId, emoji } });
    },
    errors: result.data?.reactToMessage?.userErrors ?? [],
    failure: result.error,
    refused,
  };
}

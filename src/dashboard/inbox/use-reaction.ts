import { createContext, use, useEffect, useMemo, useState } from 'react';
import { type CombinedError, useMutation, useQuery } from 'urql';
import {
  type InboxEventsSubscription,
  ReactToMessageDocument,
  type SentReactionFragment,
  SentReactionsDocument,
} from '../documents.generated.ts';
import type { UserError } from '../ui/user-errors.tsx';

/** Event on `window`: the network has accepted or refused a reaction of the business. */
const REACTION_SETTLED = 'parley:reaction-settled';

/** Tells the message that was reacted to what became of the reaction, which has no bubble of its own. */
export function reportReaction({ events }: InboxEventsSubscription): void {
  if (events.__typename !== 'MessageEvent' || events.message?.type !== 'REACTION') return;
  if (events.type === 'MESSAGE_FAILED' || events.type === 'MESSAGE_SENT')
    window.dispatchEvent(new CustomEvent<SentReactionFragment>(REACTION_SETTLED, { detail: events.message }));
}

type Reactions = ReadonlyMap<string, SentReactionFragment>;

/** The last reaction of the business to each message of the open thread. */
export const SentReactionsContext = createContext<Reactions>(new Map());

/**
 * Reads what became of the latest reactions in a conversation: a page that is opened later shows failed ones, too.
 * @param conversationKey its databaseId
 */
export function useSentReactions(conversationKey: string): Reactions {
  const [{ data }] = useQuery({
    query: SentReactionsDocument,
    variables: { conversationKey },
    requestPolicy: 'cache-and-network',
  });
  const reactions = data?.messages?.nodes;
  return useMemo(() => new Map(reactions?.toReversed().map(each => [each.replyTo?.id ?? '', each])), [reactions]);
}

export interface Reaction {
  /** @param emoji '' takes the reaction back */
  readonly react: (emoji: string) => void;
  readonly errors: readonly UserError[];
  readonly failure: CombinedError | undefined;
  /** The last reaction, if the network refused it. */
  readonly refused: SentReactionFragment | undefined;
}

/** Reacts to a message, and follows what becomes of it. */
export function useReaction(messageId: string): Reaction {
  const [result, mutate] = useMutation(ReactToMessageDocument);
  const stored = use(SentReactionsContext).get(messageId);
  // Null: a reaction is on its way, whose outcome is not known.
  const [settled, setSettled] = useState<SentReactionFragment | null>();
  useEffect(() => {
    const listen = (event: Event): void => {
      const reaction = (event as CustomEvent<SentReactionFragment>).detail;
      if (reaction.replyTo?.id === messageId) setSettled(reaction);
    };
    window.addEventListener(REACTION_SETTLED, listen);
    return () => window.removeEventListener(REACTION_SETTLED, listen);
  }, [messageId]);
  const last = settled === undefined ? stored : settled;
  return {
    react(emoji) {
      setSettled(null);
      void mutate({ input: { id: messageId, emoji } });
    },
    errors: result.data?.reactToMessage?.userErrors ?? [],
    failure: result.error,
    refused: last?.status === 'FAILED' ? last : undefined,
  };
}

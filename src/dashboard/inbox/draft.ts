import { createContext, use, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { ThreadMessageFragment } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { isAnswer, type Quoted, useConversationDraft } from './draft-store.tsx';

/** Draft of the open thread. */
export interface Draft {
  /** The last message that its writer knows: what comes while something is written does not count. Undefined: there is none. */
  lastKnown(): string | undefined;
  /** States that the writer has seen a message that came since. */
  know(messageId: string): void;
  /** Whether something is being written: from then on, new messages are not known to the writer. */
  setWriting(isWriting: boolean): void;
  /** Answers of others that came since. */
  readonly missed: readonly ThreadMessageFragment[];
  readonly replyTo: Quoted | undefined;
  quote(message: Quoted | undefined): void;
}

export const DraftContext = createContext<Draft | undefined>(undefined);

export function useDraft(): Draft {
  const draft = use(DraftContext);
  if (!draft) throw new Error('There is no thread above this component.');
  return draft;
}

/** Whether a message was sent by the reader of this page. */
export function useIsMine(): (message: Pick<ThreadMessageFragment, 'sentBy'>) => boolean {
  const { viewer } = useAccount();
  const name = viewer.staffMember?.name ?? viewer.token.name;
  const kind = viewer.staffMember ? 'STAFF' : 'TOKEN';
  return useCallback(({ sentBy }) => sentBy?.kind === kind && sentBy.displayName === name, [kind, name]);
}

/** The draft of a conversation whose thread is open. @param messages those that are loaded, oldest first */
export function useDraftOf(conversationId: string, messages: readonly ThreadMessageFragment[]): Draft {
  const [kept, keep] = useConversationDraft(conversationId);
  const { replyTo } = kept;
  const [isWriting, setWriting] = useState(isAnswer(kept));
  const quote = useCallback((message: Quoted | undefined) => keep({ replyTo: message }), [keep]);
  const lastId = lastArrived(messages)?.id;
  // A draft that was left knows what it knew then; what comes while nothing is written is known.
  const [frozenId, freeze] = useState(kept.knownId);
  const knownId = isWriting ? (frozenId ?? lastId) : lastId;
  if (knownId !== frozenId) freeze(knownId);
  // Of the present, for a send that began when less was known.
  const known = useRef(knownId);
  useLayoutEffect(() => {
    known.current = knownId;
    keep({ knownId: isWriting ? knownId : undefined });
  }, [keep, isWriting, knownId]);
  const isMine = useIsMine();
  const missed = useMemo(
    () =>
      messages
        .toSorted(byArrival)
        .filter(
          (message, index, all) =>
            index > all.findIndex(({ id }) => id === knownId) &&
            message.direction === 'OUTBOUND' &&
            message.status !== 'CANCELLED' &&
            message.sentBy?.kind !== 'OTP' &&
            !isMine(message),
        ),
    [messages, knownId, isMine],
  );
  const know = useCallback((id: string) => {
    known.current = id;
    freeze(id);
  }, []);
  return useMemo(
    () => ({ lastKnown: () => known.current, know, setWriting, missed: isWriting ? missed : [], replyTo, quote }),
    [know, isWriting, missed, replyTo, quote],
  );
}

/** An answer of the phone app that arrives late stands above messages that are known already. */
const byArrival = (one: ThreadMessageFragment, other: ThreadMessageFragment): number =>
  Date.parse(one.createdAt) - Date.parse(other.createdAt);

const lastArrived = (messages: readonly ThreadMessageFragment[]): ThreadMessageFragment | undefined =>
  messages.toSorted(byArrival).at(-1);

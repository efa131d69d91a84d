import { createContext, use, useCallback, useMemo, useRef, useState } from 'react';
import type { ThreadMessageFragment } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';

/** A message that the next one quotes. */
export interface Quoted {
  readonly id: string;
  readonly isOurs: boolean;
  readonly text: string;
}

/** What is being written in the open thread. */
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

/** The draft of a thread. @param messages those that are loaded, oldest first */
export function useDraftOf(messages: readonly ThreadMessageFragment[]): Draft {
  const [isWriting, setWriting] = useState(false);
  const [replyTo, quote] = useState<Quoted>();
  const lastId = messages.at(-1)?.id;
  const known = useRef<string>(undefined);
  const [, setSeen] = useState<string>();
  if (!isWriting || known.current === undefined) known.current = lastId;
  const knownId = known.current;
  const isMine = useIsMine();
  const missed = useMemo(
    () =>
      messages
        .slice(messages.findIndex(({ id }) => id === knownId) + 1)
        .filter(
          message =>
            message.direction === 'OUTBOUND' &&
            message.status !== 'CANCELLED' &&
            message.sentBy?.kind !== 'OTP' &&
            !isMine(message),
        ),
    [messages, knownId, isMine],
  );
  const know = useCallback((id: string) => {
    known.current = id;
    setSeen(id);
  }, []);
  return useMemo(
    () => ({ lastKnown: () => known.current, know, setWriting, missed: isWriting ? missed : [], replyTo, quote }),
    [know, isWriting, missed, replyTo],
  );
}

import { useEffect, useMemo } from 'react';
import { useSubscription } from 'urql';
import { ConversationPresenceDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { setPresenceState } from './presence-state.ts';

/** A colleague who has the same conversation open. */
export interface Colleague {
  readonly id: string;
  readonly name: string;
  readonly isTyping: boolean;
}

/** Shows colleagues that this conversation is open here. @returns the colleagues who have it open, live */
export function useColleagues(conversationId: string): readonly Colleague[] {
  const { viewer } = useAccount();
  const me = viewer.staffMember?.id;
  useEffect(() => {
    setPresenceState({ conversationId, isTyping: false });
    return () => setPresenceState({ conversationId: undefined, isTyping: false });
  }, [conversationId]);
  const [{ data }] = useSubscription({ query: ConversationPresenceDocument, variables: { id: conversationId } });
  const viewers = data?.conversationPresence.viewers;
  return useMemo(
    () =>
      (viewers ?? []).flatMap(({ staffMember, isTyping }) =>
        staffMember && staffMember.id !== me ? [{ ...staffMember, isTyping }] : [],
      ),
    [viewers, me],
  );
}

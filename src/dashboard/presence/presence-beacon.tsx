import { use, useEffect } from 'react';
import { useMutation } from 'urql';
import { SetPresenceDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { ConnectionContext } from '../session/connection.ts';
import { currentPresence, onPresenceChange } from './presence-state.ts';

/** The server forgets presence after 30 seconds, and typing after 10. */
const REPEAT_MS = 8_000;

/** Reports this staff member's presence and open conversation. Access tokens have no presence. */
export function PresenceBeacon() {
  const { viewer, can } = useAccount();
  const isConnected = use(ConnectionContext);
  const [, setPresence] = useMutation(SetPresenceDocument);
  const isStaff = viewer.staffMember !== null && can('CONVERSATIONS_READ');
  // Also after a reconnection, because the end of the connection removed the presence.
  useEffect(() => {
    if (!isStaff || !isConnected) return;
    const state = (): void => {
      const { conversationId, isTyping } = currentPresence();
      void setPresence({
        input:
          document.visibilityState === 'visible'
            ? { presence: 'ONLINE', conversationId: conversationId ?? null, isTyping }
            : { presence: 'AWAY' },
      });
    };
    state();
    const timer = setInterval(state, REPEAT_MS);
    const off = onPresenceChange(state);
    document.addEventListener('visibilitychange', state);
    return () => {
      clearInterval(timer);
      off();
      document.removeEventListener('visibilitychange', state);
    };
  }, [isStaff, isConnected, setPresence]);
  return null;
}

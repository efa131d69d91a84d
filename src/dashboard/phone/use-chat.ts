import { useCallback, useEffect, useMemo, useState } from 'react';
import { useAccount } from '../session/account.tsx';
import { type Chat, createEmulator, type Emulator } from './emulator.ts';

/** How often a phone looks for new messages while it is on the screen. */
const POLL_MS = 700;

export function useEmulator(): Emulator {
  const { token } = useAccount();
  return useMemo(() => createEmulator(token), [token]);
}

/** Chat of a phone, kept up to date. */
export function useChat(
  person: string,
  groupId?: string,
): { readonly chat: Chat | undefined; readonly reload: () => void } {
  const emulator = useEmulator();
  const [chat, setChat] = useState<Chat>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = round >= 0;
    let timer: ReturnType<typeof setTimeout>;
    const look = async (): Promise<void> => {
      if (document.visibilityState === 'visible')
        await emulator.chat(person, groupId).then(
          next => {
            if (isCurrent) setChat(before => (JSON.stringify(before) === JSON.stringify(next) ? before : next));
          },
          () => undefined,
        );
      if (isCurrent) timer = setTimeout(look, POLL_MS);
    };
    void look();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [emulator, person, groupId, round]);
  const reload = useCallback(() => setRound(before => before + 1), []);
  return { chat, reload };
}

import { useCallback, useEffect, useMemo, useState } from 'react';
import { useAccount } from '../session/account.tsx';
import { type BusinessNumber, type Chat, createEmulator, type Emulator } from './emulator.ts';

/** How often a phone looks for new messages while it is on the screen. */
const POLL_MS = 700;

/** @param phoneNumberId the number that phones write to; undefined: the first one */
export function useEmulator(phoneNumberId?: string): Emulator {
  const { token } = useAccount();
  return useMemo(() => createEmulator(token, phoneNumberId), [token, phoneNumberId]);
}

/** The numbers that a phone can write to; undefined: not read yet. */
export function useNumbers(): readonly BusinessNumber[] | undefined {
  const emulator = useEmulator();
  const [numbers, setNumbers] = useState<readonly BusinessNumber[]>();
  useEffect(() => {
    let isCurrent = true;
    const show = (found: readonly BusinessNumber[]): void => {
      if (isCurrent) setNumbers(found);
    };
    // Without the list, a phone writes to the first number.
    emulator.numbers().then(show, () => show([]));
    return () => {
      isCurrent = false;
    };
  }, [emulator]);
  return numbers;
}

/** Chat of a phone, kept up to date. */
export function useChat(
  emulator: Emulator,
  person: string,
  groupId?: string,
): { readonly chat: Chat | undefined; readonly reload: () => void } {
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

import { useCallback, useEffect, useRef } from 'react';
import { currentPresence, setPresenceState } from './presence-state.ts';

/** Typing ends this long after the last change. */
const IDLE_MS = 6_000;

/** Shows colleagues that an answer is being typed. @returns a function to call with each change of the text */
export function useTyping(): (text: string) => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const stop = useCallback(() => {
    clearTimeout(timer.current);
    setPresenceState({ ...currentPresence(), isTyping: false });
  }, []);
  useEffect(() => stop, [stop]);
  return useCallback(
    text => {
      if (text === '') return stop();
      clearTimeout(timer.current);
      timer.current = setTimeout(stop, IDLE_MS);
      setPresenceState({ ...currentPresence(), isTyping: true });
    },
    [stop],
  );
}

import { useEffect, useRef } from 'react';

/** Runs a function at each event of a name on `window`. */
export function useWindowEvent(name: string, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const listen = (): void => latest.current();
    window.addEventListener(name, listen);
    return () => window.removeEventListener(name, listen);
  }, [name]);
}

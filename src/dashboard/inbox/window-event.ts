import { useEffect, useRef } from 'react';

/** Runs a function at each event of a name on `window`. */
export function useWindowEvent(name: string, run: (event: Event) => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const listen = (event: Event): void => latest.current(event);
    window.addEventListener(name, listen);
    return () => window.removeEventListener(name, listen);
  }, [name]);
}

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Milliseconds to wait before the next attempt: doubled with each failure up to 30 s, of which a random half is left out, so that
 * the clients of a gateway that was restarted do not come back in one moment.
 * @param failures in a row before the one that is waited for, from 0
 */
export const backoffMs = (failures: number): number =>
  Math.min(LONGEST_MS, FIRST_MS * 2 ** failures) * (0.5 + Math.random() / 2);

/** Resolves after a time. @throws the reason of the signal as soon as it is aborted */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });

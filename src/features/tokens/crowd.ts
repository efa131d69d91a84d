import { SECOND } from '../../platform/clock.ts';

/** Look-ups that wait for one another: a flood of them costs the database one statement a second, and each up to a second. */
export interface Crowd<T> {
  /** @returns undefined also when too many wait already */
  find(key: string): Promise<T | undefined>;
}

const TOGETHER_MS = SECOND;
/** Beyond this a flood is turned away, and with it, for a moment, whoever stands among it. */
const MAX_WAITING = 1_000;

/** @param findAll finds many at once; its results stand in the order of their keys */
export function createCrowd<T>(findAll: (keys: readonly string[]) => Promise<(T | undefined)[]>): Crowd<T> {
  let waiting = new Map<string, PromiseWithResolvers<T | undefined>>();

  async function look(): Promise<void> {
    const found = waiting;
    waiting = new Map();
    try {
      const values = await findAll([...found.keys()]);
      [...found.values()].forEach(({ resolve }, index) => void resolve(values[index]));
    } catch (error) {
      for (const { reject } of found.values()) reject(error);
    }
  }

  return {
    async find(key) {
      const known = waiting.get(key);
      if (known) return known.promise;
      if (waiting.size >= MAX_WAITING) return undefined;
      const place = Promise.withResolvers<T | undefined>();
      waiting.set(key, place);
      if (waiting.size === 1) setTimeout(() => void look(), TOGETHER_MS);
      return place.promise;
    },
  };
}

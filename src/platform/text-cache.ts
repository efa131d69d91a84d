import { LRUCache } from 'lru-cache';

/** A bounded cache of texts by their digest. If a text is missing, the client sends it again. */
export interface TextCache {
  find(digest: string): Promise<string | undefined>;
  save(digest: string, text: string): void;
}

const MAX_TEXTS = 2_000;
const MAX_CHARACTERS = 10_000_000;

/** A cache in the memory of this process. */
export function createMemoryTextCache(): TextCache {
  const texts = new LRUCache<string, string>({
    max: MAX_TEXTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: text => text.length + 1,
  });
  return {
    find: async digest => texts.get(digest),
    save: (digest, text) => void texts.set(digest, text),
  };
}

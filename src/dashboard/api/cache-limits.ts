import type { Cache, UpdateResolver, Variables } from '@urql/exchange-graphcache';
import { listOf } from './list-pages.ts';

/** Threads that stay in the cache, so that they are shown at once when they are opened again. */
const KEPT_THREADS = 20;
/** Lists of one field, by filter and search. */
const KEPT_LISTS = 10;

/** Moves the latest key to the front. @returns the keys to keep, and those to drop */
function withLatest(recent: readonly string[], latest: string, kept: number): [string[], ReadonlySet<string>] {
  const all = [latest, ...recent.filter(each => each !== latest)];
  return [all.slice(0, kept), new Set(all.slice(kept))];
}

const isLastPage = (its: Variables | null): boolean =>
  Object.entries(its ?? {}).every(([name, value]) => name === 'last' || value == null);

/**
 * Drops the threads that were read least recently, and of all threads but the open one every page but the last: otherwise the cache keeps
 * what a query has read until the page is closed.
 */
export function createThreadLimit(): UpdateResolver {
  let recent: readonly string[] = [];
  return (_result, args, cache) => {
    const present = cache.resolve('Query', 'conversation', args);
    if (typeof present !== 'string') return;
    const [kept, forgotten] = withLatest(recent, present, KEPT_THREADS);
    recent = kept;
    for (const thread of [...kept.slice(1), ...forgotten])
      for (const { fieldName, arguments: its } of cache.inspectFields(thread))
        if (fieldName === 'messages' && (!isLastPage(its) || forgotten.has(thread)))
          cache.invalidate(thread, fieldName, its);
    if (forgotten.size === 0) return;
    for (const { fieldName, fieldKey, arguments: its } of cache.inspectFields('Query'))
      if (fieldName === 'conversation' && forgotten.has(String(cache.resolve('Query', fieldKey))))
        cache.invalidate('Query', fieldName, its);
  };
}

/** Drops the lists of a field that were read least recently: each search and each filter makes another list. */
export function createListLimit(): UpdateResolver {
  let recent: readonly string[] = [];
  return (_result, args, cache, { fieldName }) => {
    const [kept, forgotten] = withLatest(recent, listOf(args), KEPT_LISTS);
    recent = kept;
    if (forgotten.size === 0) return;
    for (const field of cache.inspectFields('Query'))
      if (field.fieldName === fieldName && forgotten.has(listOf(field.arguments ?? {})))
        cache.invalidate('Query', fieldName, field.arguments);
  };
}

/**
 * Lets the cache drop the messages of events. The cache counts references, and a conversation and its last message refer to each other.
 * The message's reference to its conversation is therefore removed, but only with the next event: a reference that is removed in the
 * layer in which it was written was never counted, so that its target would never be dropped.
 */
export function createEventRelease(): (cache: Cache, messageId: string) => void {
  let previous: string | undefined;
  return (cache, messageId) => {
    if (previous !== undefined && previous !== messageId) {
      const message = { __typename: 'Message', id: previous };
      if (typeof cache.resolve(message, 'conversation') === 'string') cache.invalidate(message, 'conversation');
    }
    previous = messageId;
  };
}

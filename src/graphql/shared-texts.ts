import type { FormattedExecutionResult } from 'graphql';

/** The places of one socket at which the text of an answer belongs. */
export interface Places {
  /** What stands in for an answer, until `fill`. */
  mark(result: object): FormattedExecutionResult;
  /** The message with the answer's text in its place; a message without a mark as it is. */
  fill(message: string): string;
}

/** `@` is no name in GraphQL, and what ends a message after so few brackets is its own payload: no answer looks like this. */
const MARK = /,"payload":\{"@":(\d+)\}\}$/;

/** Short messages alone are looked at: one with a mark has nothing else but the client's id for the subscription. */
const MAX_MARKED_LENGTH = 1_000;

/**
 * graphql-ws makes a text of every message by itself, for each subscriber anew: of an event that a thousand get, that was a
 * fifth of all work. It is given a mark in place of such an answer, and the answer's own text, made once, is put there.
 */
export function createSharedTexts(): { placesOf(): Places } {
  /** As long as the answer itself is kept. */
  const texts = new WeakMap<object, string>();

  function textOf(result: object): string {
    let text = texts.get(result);
    if (text === undefined) {
      text = JSON.stringify(result);
      texts.set(result, text);
    }
    return text;
  }

  return {
    placesOf() {
      const waiting = new Map<number, string>();
      let count = 0;
      return {
        mark(result) {
          count += 1;
          waiting.set(count, textOf(result));
          return { '@': count } as FormattedExecutionResult;
        },
        fill(message) {
          if (waiting.size === 0 || message.length > MAX_MARKED_LENGTH) return message;
          const found = MARK.exec(message);
          const number = Number(found?.[1]);
          const text = waiting.get(number);
          if (!found || text === undefined) return message;
          waiting.delete(number);
          return `${message.slice(0, found.index)},"payload":${text}}`;
        },
      };
    },
  };
}

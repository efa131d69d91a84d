import type { FormattedExecutionResult } from 'graphql';

/** The results of one socket that are to be replaced by their shared text. */
export interface Placeholders {
  /** Returns a stand-in for a result, until `fill`. */
  placeholder(result: object): FormattedExecutionResult;
  /** Replaces a placeholder in a message with the text of its result. Other messages are returned unchanged. */
  fill(message: string): string;
}

/** No result looks like this: `@` is not a GraphQL name, and only the message's own payload ends after so few brackets. */
const PLACEHOLDER = /,"payload":\{"@":(\d+)\}\}$/;

/** Length of the end of a message in which a placeholder fits: the client's id before it may be long, and so are other results. */
const TAIL_LENGTH = 50;

/**
 * Serializes each result once for all sockets. graphql-ws serializes every message itself: for an event with a thousand
 * subscribers that was a third of the CPU time. It is given a placeholder, which is replaced by the shared text.
 */
export function createSharedPayloads(): { forSocket(): Placeholders } {
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
    forSocket() {
      const waiting = new Map<number, string>();
      let count = 0;
      return {
        placeholder(result) {
          count += 1;
          waiting.set(count, textOf(result));
          return { '@': count } as FormattedExecutionResult;
        },
        fill(message) {
          if (waiting.size === 0) return message;
          const match = PLACEHOLDER.exec(message.slice(-TAIL_LENGTH));
          const number = Number(match?.[1]);
          const text = waiting.get(number);
          if (!match || text === undefined) return message;
          waiting.delete(number);
          return `${message.slice(0, -match[0].length)},"payload":${text}}`;
        },
      };
    },
  };
}

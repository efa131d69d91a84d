const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/;

/** An instant as REST writes it: `2026-01-01T07:58:39+00:00`, whole seconds. @returns undefined when the text is no instant of ours */
export const wireTime = (text: string): string | undefined =>
  INSTANT.test(text) ? `${text.slice(0, 19)}+00:00` : undefined;

/** How a version writes an instant of GraphQL's DateTime. Absent stays absent. */
export type WriteTime = <T extends null | undefined>(instant: string | T) => string | T;

/** As `wireTime`, for values that GraphQL's DateTime has written: they need no look. Absent stays absent. */
export const time = <T extends null | undefined>(instant: string | T): string | T =>
  typeof instant === 'string' ? `${instant.slice(0, 19)}+00:00` : instant;

/** As version 1 writes it: `2026-04-08T14:30:25.000000Z`, whole seconds here too, so that both versions show one instant. */
export const legacyTime: WriteTime = instant =>
  typeof instant === 'string' ? `${instant.slice(0, 19)}.000000Z` : instant;

/** An id by which GraphQL knows of what it is: a contact and no phone number, a row of ours and nothing of the network. */
export const globalId = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64url');

/**
 * A phone number that a caller wrote, as it may go to GraphQL: where GraphQL takes a number, a contact's global id would do as
 * well, and REST has a field of its own for that. Such an id begins with letters, and no number does once it is decoded.
 */
export const phoneOnly = (text: string): string =>
  /^[a-z]+:/i.test(Buffer.from(text, 'base64url').toString('latin1')) ? 'no number' : text;

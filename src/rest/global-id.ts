/** An id by which GraphQL knows of what it is: a contact and no phone number, a row of ours and nothing of the network. */
export const globalId = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64url');

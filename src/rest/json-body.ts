import { CodedError } from '../errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a body of JSON, which is in UTF-8 (RFC 8259 §8.1): one in another encoding is refused, because what is no UTF-8 in it
 * would be stored as replacement characters. Empty is no body: clients send the type with every DELETE.
 *
 * @throws BAD_REQUEST
 */
export function parseJsonBody(body: Buffer): unknown {
  const text = textOf(body);
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CodedError('BAD_REQUEST', 'The body is not valid JSON.');
  }
}

function textOf(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new CodedError('BAD_REQUEST', 'The body is not in UTF-8.');
  }
}

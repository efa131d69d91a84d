import { CodedError } from '../../core/errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body, which must be UTF-8 (RFC 8259 §8.1): otherwise replacement characters would be stored. An empty body is
 * undefined, because clients send the content type with every DELETE.
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

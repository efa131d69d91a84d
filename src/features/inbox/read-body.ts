import { parseStorable } from '../../platform/json.ts';

/**
 * Parses a webhook, dropping characters that cannot be stored.
 * @returns undefined if the body is not JSON
 */
export const readBody = (body: Buffer): unknown => parseStorable(body.toString('utf8'));

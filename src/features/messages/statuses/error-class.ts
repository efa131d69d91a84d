import { ERROR_CODES } from '../../../network/cloud-api/error-codes.ts';
import type { RetryClass } from '../../../network/network.ts';

/** Class of a network error, by its consequence for the sender. */
export type ErrorClass = 'TRANSIENT' | 'WAIT' | 'SENDER' | 'CREDENTIALS' | 'RECIPIENT' | 'REQUEST';

const CLASSES = {
  retry_backoff: 'TRANSIENT',
  retry_after_wait: 'WAIT',
  pause_account: 'SENDER',
  auth: 'CREDENTIALS',
  no_retry: 'RECIPIENT',
  fix_request: 'REQUEST',
} as const satisfies Record<RetryClass, ErrorClass>;

/** Codes that this gateway does not know, and 0, its own refusals, concern the recipient. */
export const errorClassOf = (code: number): ErrorClass =>
  CLASSES[(code === 0 ? undefined : ERROR_CODES.get(code)?.retryClass) ?? 'no_retry'];

const codesOf = (retryClass: RetryClass): string =>
  [...ERROR_CODES]
    .filter(([code, known]) => code !== 0 && known.retryClass === retryClass)
    .map(([code]) => code)
    .join(',');

/** The same in SQL. @param code an expression */
export const errorClassSql = (code: string): string =>
  `case ${(Object.keys(CLASSES) as RetryClass[])
    .filter(name => name !== 'no_retry')
    .map(name => `when ${code} = any('{${codesOf(name)}}'::integer[]) then '${CLASSES[name]}'`)
    .join(' ')} else 'RECIPIENT' end`;

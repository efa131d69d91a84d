import type { ErrorClass } from '../documents.generated.ts';
import type { TextKey } from '../texts/texts.tsx';

/** Codes of the network for which there is something particular to do. */
const ADVICE: Readonly<Record<number, TextKey>> = {
  131047: 'failure.window',
  131026: 'failure.undeliverable',
  131049: 'failure.tooMuchMarketing',
  131050: 'failure.stopped',
  131053: 'failure.media',
  131056: 'failure.tooFast',
  130429: 'failure.tooFast',
  132001: 'failure.template',
  132015: 'failure.template',
  132016: 'failure.template',
};

const BY_CLASS: Readonly<Record<ErrorClass, TextKey>> = {
  CREDENTIALS: 'failure.credentials',
  RECIPIENT: 'failure.recipient',
  REQUEST: 'failure.request',
  SENDER: 'failure.sender',
  TRANSIENT: 'failure.transient',
  WAIT: 'failure.tooFast',
};

/** Advice on a failed message. */
export const adviceOf = (error: { readonly code: number; readonly class: ErrorClass }): TextKey =>
  ADVICE[error.code] ?? BY_CLASS[error.class];

/** Whether the same message may arrive at another attempt. */
export const isRetryable = ({ code, class: group }: { readonly code: number; readonly class: ErrorClass }): boolean =>
  code !== 131047 && group !== 'RECIPIENT' && group !== 'REQUEST';

import { CodedError, FieldErrorList } from '../../../core/errors.ts';
import { NetworkCallError } from '../../../network/network.ts';
import { SECOND } from '../../../platform/clock.ts';

/**
 * Converts an error of a template call to the network into an API error.
 *
 * @param field the input field for refused requests; omitted if the call had no input
 * @returns MESSAGING_NOT_CONFIGURED (credentials), VALIDATION_ERROR (of the field), SERVICE_UNAVAILABLE (quota, no response); other errors unchanged
 */
export function networkRefusal(error: unknown, field?: string): unknown {
  if (!(error instanceof NetworkCallError)) return error;
  const provider = error.error && {
    code: error.error.code,
    title: error.error.title,
    details: error.error.details,
  };
  switch (error.error?.retryClass) {
    case 'auth':
    case 'pause_account':
      return new CodedError('MESSAGING_NOT_CONFIGURED', `The network refuses this channel: ${error.message}.`, {
        details: { provider },
      });
    case 'no_retry':
    case 'fix_request':
      return field === undefined
        ? new CodedError('SERVICE_UNAVAILABLE', `The network refused: ${error.message}.`, { details: { provider } })
        : refusalOf(field, error.error.details);
    case 'retry_backoff':
    case 'retry_after_wait':
    case undefined: {
      const waitMs = error.error?.retryAfterMs;
      return new CodedError('SERVICE_UNAVAILABLE', `The network is unavailable: ${error.message}.`, {
        details: {
          ...(provider && { provider }),
          ...(waitMs !== undefined && { retry_after: Math.ceil(waitMs / SECOND) }),
        },
      });
    }
  }
}

function refusalOf(field: string, details: string): CodedError {
  const errors = new FieldErrorList();
  errors.add(field, details, 'NETWORK_REFUSED');
  return errors.toError(`The network refused: ${details}`);
}

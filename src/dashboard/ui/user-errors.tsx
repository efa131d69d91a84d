import type { CombinedError } from 'urql';

export interface UserError {
  readonly message: string;
  readonly code?: string;
  readonly path?: readonly string[];
}

/** Why a request failed, without the source that urql writes before the first message. */
export const failureTexts = ({ graphQLErrors, networkError, message }: CombinedError): readonly string[] =>
  graphQLErrors.length > 0 ? graphQLErrors.map(error => error.message) : [networkError?.message ?? message];

/** Shows user errors without a field in this form, or the failure of the request. */
export function UserErrors({
  errors = [],
  failure,
}: {
  readonly errors?: readonly UserError[];
  readonly failure?: CombinedError | undefined;
}) {
  const messages = failure ? failureTexts(failure) : errors.map(({ message }) => message);
  if (messages.length === 0) return null;
  return (
    <div className="notice danger" role="alert">
      {messages.map(message => (
        <p key={message}>{message}</p>
      ))}
    </div>
  );
}

/** The messages of one field of the input. */
export const errorsOf = (errors: readonly UserError[] | undefined, field: string): string | undefined =>
  errors
    ?.filter(({ path }) => path?.[0] === field)
    .map(({ message }) => message)
    .join(' ') || undefined;

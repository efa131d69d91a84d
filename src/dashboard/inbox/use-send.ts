import { useState } from 'react';
import { type CombinedError, useMutation } from 'urql';
import { type ContentInput, SendMessageDocument } from '../documents.generated.ts';
import type { UserError } from '../ui/user-errors.tsx';

interface Send {
  /** @returns whether the message was accepted */
  readonly send: (content: ContentInput) => Promise<boolean>;
  readonly errors: readonly UserError[];
  readonly failure: CombinedError | undefined;
  readonly isSending: boolean;
}

/** Sends to the person of a conversation, from its channel. */
export function useSend(conversationId: string): Send {
  const [{ fetching }, mutate] = useMutation(SendMessageDocument);
  const [errors, setErrors] = useState<readonly UserError[]>([]);
  const [failure, setFailure] = useState<CombinedError>();
  const send = async (content: ContentInput): Promise<boolean> => {
    const { data, error } = await mutate({ input: { to: { conversationId }, content } });
    setErrors(data?.sendMessage?.userErrors ?? []);
    setFailure(error);
    return data?.sendMessage?.message != null;
  };
  return { send, errors, failure, isSending: fetching };
}

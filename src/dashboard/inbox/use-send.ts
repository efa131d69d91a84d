import { useEffect, useRef, useState } from 'react';
import { type CombinedError, useMutation } from 'urql';
import {
  type ContentInput,
  SendMessageDocument,
  type SendMessageInput,
  type SendMessageMutation,
} from '../documents.generated.ts';
import type { UserError } from '../ui/user-errors.tsx';
import { useDraft } from './draft.ts';
import { useSendOnce } from './use-send-once.ts';

type Failed = NonNullable<SendMessageMutation['sendMessage']>['userErrors'][number];
type Current = Extract<Failed, { readonly __typename: 'ConflictError' }>['current'];

/** A colleague's answer, which the writer of another one has to see before it is sent. */
export type OtherAnswer = Extract<NonNullable<Current>, { readonly __typename: 'Message' }>;

/** A message that waits for its writer, because somebody else has answered. */
export interface BlockedSend {
  readonly answer: OtherAnswer;
  decide(isSent: boolean): void;
}

export interface SendOptions {
  /** ISO 8601; undefined: now. */
  readonly scheduledAt?: string | undefined;
}

export interface Send {
  /** @returns whether the message was accepted */
  readonly send: (content: ContentInput, options?: SendOptions) => Promise<boolean>;
  readonly errors: readonly UserError[];
  readonly failure: CombinedError | undefined;
  readonly isSending: boolean;
  /** To be shown as `AnsweredDialog`. */
  readonly blockedSend: BlockedSend | undefined;
}

/** Sends to the person of a conversation, from its channel. If somebody else has answered since the draft was begun, its writer decides. */
export function useSend(conversationId: string): Send {
  const [{ fetching }, mutate] = useMutation(SendMessageDocument);
  const [errors, setErrors] = useState<readonly UserError[]>([]);
  const [failure, setFailure] = useState<CombinedError>();
  const [blockedSend, setBlockedSend] = useState<BlockedSend>();
  const draft = useDraft();
  const sendOnce = useSendOnce(conversationId);
  const isShown = useRef(true);
  const keepBack = useRef<() => void>(undefined);
  // Without a question if the thread is not shown, or its page closes: the message stays a draft.
  useEffect(() => {
    isShown.current = true;
    const leave = (): void => keepBack.current?.();
    window.addEventListener('pagehide', leave);
    return () => {
      isShown.current = false;
      window.removeEventListener('pagehide', leave);
      leave();
    };
  }, []);

  const attempt = async (input: SendMessageInput): Promise<boolean> => {
    const { data, error } = await sendOnce(input, keyed => mutate({ input: keyed }), 'sendMessage');
    const found = data?.sendMessage?.userErrors ?? [];
    const answer = found.map(otherAnswer).find(each => each !== undefined);
    setErrors(answer ? [] : found);
    setFailure(error);
    if (!answer) return data?.sendMessage?.message != null;
    if (!isShown.current) return false;
    const isSent = await new Promise<boolean>(decide => {
      keepBack.current = () => decide(false);
      setBlockedSend({ answer, decide });
    });
    keepBack.current = undefined;
    setBlockedSend(undefined);
    if (!isSent) return false;
    draft.know(answer.id);
    return attempt({ ...input, expectedLastMessageId: answer.id });
  };
  return {
    send: (content, { scheduledAt } = {}) => {
      const expected = draft.lastKnown();
      return attempt({
        to: { conversationId },
        content,
        ...(expected !== undefined && { expectedLastMessageId: expected }),
        ...(draft.replyTo && { replyToId: draft.replyTo.id }),
        ...(scheduledAt !== undefined && { scheduledAt: { instant: scheduledAt } }),
      });
    },
    errors,
    failure,
    isSending: fetching || blockedSend !== undefined,
    blockedSend,
  };
}

function otherAnswer(error: Failed): OtherAnswer | undefined {
  return error.__typename === 'ConflictError' && error.current?.__typename === 'Message' ? error.current : undefined;
}

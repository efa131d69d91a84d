import { useState } from 'react';
import { type CombinedError, useMutation } from 'urql';
import {
  type ConversationStatus,
  type ThreadMessageFragment,
  UpdateConversationDocument,
  type UpdateConversationMutation,
} from '../documents.generated.ts';
import type { UserError } from '../ui/user-errors.tsx';

type Failed = NonNullable<UpdateConversationMutation['updateConversation']>['userErrors'][number];
type Current = Extract<Failed, { readonly __typename: 'ConflictError' }>['current'];
type NewMessage = Extract<NonNullable<Current>, { readonly __typename: 'Message' }>;

export interface StatusChange {
  readonly setStatus: (status: ConversationStatus, snoozedUntil?: string) => void;
  /** What the person wrote meanwhile: the status was not changed. The same change again is made. */
  readonly newMessage: NewMessage | undefined;
  readonly errors: readonly UserError[];
  readonly failure: CombinedError | undefined;
}

/**
 * Changes the status of the open conversation. It does not leave the inbox with a message that this page does not show yet.
 * @param messages those that are loaded
 */
export function useStatusChange(conversationId: string, messages: readonly ThreadMessageFragment[]): StatusChange {
  const [{ data, error }, update] = useMutation(UpdateConversationDocument);
  const [newMessage, setNewMessage] = useState<NewMessage>();
  const setStatus = async (status: ConversationStatus, snoozedUntil?: string): Promise<void> => {
    const expected = status === 'OPEN' ? undefined : lastKnown(messages, newMessage);
    const result = await update({
      input: {
        id: conversationId,
        status,
        ...(snoozedUntil !== undefined && { snoozedUntil }),
        ...(expected !== undefined && { expectedLastMessageId: expected }),
      },
    });
    const errors = result.data?.updateConversation?.userErrors ?? [];
    setNewMessage(errors.map(newMessageOf).find(each => each !== undefined));
  };
  return {
    setStatus: (status, snoozedUntil) => void setStatus(status, snoozedUntil),
    newMessage,
    errors: newMessage ? [] : (data?.updateConversation?.userErrors ?? []),
    failure: error,
  };
}

/**
 * The last message of the person that the page knows, by the order of arrival; else the last message. One that arrived late may stand
 * above those that are loaded, so that only the conflict tells it.
 */
function lastKnown(messages: readonly ThreadMessageFragment[], told: NewMessage | undefined): string | undefined {
  const inbound = messages.filter(({ direction, type }) => direction === 'INBOUND' && type !== 'REACTION');
  return [...(inbound.length > 0 ? inbound : messages), ...(told ? [told] : [])]
    .toSorted((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt))
    .at(-1)?.id;
}

const newMessageOf = (error: Failed): NewMessage | undefined =>
  error.__typename === 'ConflictError' && error.current?.__typename === 'Message' ? error.current : undefined;

import { useDrafts } from './draft-store.tsx';

interface Result<Data> {
  readonly data?: Data | undefined;
}

/**
 * Sends an input with an idempotency key that the draft of its conversation keeps until the gateway answers: a message or note whose
 * answer was lost is not sent twice, even after a reload.
 */
export function useSendOnce(conversationId: string) {
  const drafts = useDrafts();
  return async <Input extends object, Data, Sent extends Result<Data>>(
    input: Input,
    send: (keyed: Input & { readonly idempotencyKey: string }) => Promise<Sent & Result<Data>>,
    field: keyof Data,
  ): Promise<Sent> => {
    const text = JSON.stringify(input);
    const { [text]: idempotencyKey = crypto.randomUUID() } = drafts.of(conversationId).unanswered;
    drafts.change(conversationId, ({ unanswered }) => ({ unanswered: { ...unanswered, [text]: idempotencyKey } }));
    const result = await send({ ...input, idempotencyKey });
    if (result.data?.[field])
      drafts.change(conversationId, ({ unanswered: { [text]: _answered, ...unanswered } }) => ({ unanswered }));
    return result;
  };
}

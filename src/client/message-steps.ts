/** The steps of a message on its way to a person, in their order. The last ones are final: a retry is another message. */
const STEPS: Readonly<Record<string, number>> = {
  SCHEDULED: 0,
  QUEUED: 1,
  SENT: 2,
  DELIVERED: 3,
  READ: 4,
  FAILED: 5,
  CANCELLED: 5,
};
/** Fields that belong to a step: an older step must not overwrite them. */
const STATE = ['status', 'sentAt', 'deliveredAt', 'readAt', 'failedAt', 'error'] as const;
/** Messages whose last step is remembered. */
const MAX_MESSAGES = 5_000;

type Fields = Record<string, unknown>;

/**
 * Keeps messages from going back a step. Answers and events come over separate requests: the answer to a send, read while the message was
 * queued, may arrive after the event that it was read or failed, and would stay in a cache until the page is loaded again.
 * @returns a function for the data of each answer and event in the order in which they arrive; it changes messages in place
 */
export function createStepKeeper(): <Data>(data: Data) => Data {
  const latest = new Map<string, Fields>();

  function keep(message: Fields, id: string): void {
    const before = latest.get(id);
    const [step, reached] = [STEPS[String(message['status'])], STEPS[String(before?.['status'])]];
    if (before && step !== undefined && reached !== undefined && step < reached) {
      for (const name of STATE) if (name in message && name in before) message[name] = before[name];
      return;
    }
    latest.delete(id);
    const now = Object.fromEntries(STATE.flatMap(name => (name in message ? [[name, message[name]]] : [])));
    latest.set(id, { ...before, ...now });
    if (latest.size > MAX_MESSAGES) latest.delete(latest.keys().next().value ?? '');
  }

  function visit(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const each of value) visit(each);
      return;
    }
    const fields = value as Fields;
    if (fields['__typename'] === 'Message' && typeof fields['id'] === 'string' && 'status' in fields)
      keep(fields, fields['id']);
    for (const each of Object.values(fields)) visit(each);
  }

  return data => {
    visit(data);
    return data;
  };
}

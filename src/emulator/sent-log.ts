import type { AcceptedMessage, StatusWord } from './update.ts';

export interface SentMessage extends Omit<AcceptedMessage, 'held'> {
  held?: AcceptedMessage['held'];
  /** Statuses acknowledged by the receiver, in order of acknowledgement. */
  readonly statuses: StatusWord[];
}

export interface SentQuery {
  /** Maximum number, latest first; default 50. */
  readonly limit?: number | undefined;
  /** Number (compared by digits), `wa_id` or user id. */
  readonly to?: string | undefined;
  readonly callbackData?: string | undefined;
}

export interface SentReport {
  readonly total: number;
  /** Number of messages beyond the first for each callback id: duplicates that recipients got. */
  readonly duplicates: number;
  /** Number of matches. */
  readonly matched: number;
  readonly messages: readonly (Omit<AcceptedMessage, 'at' | 'seq' | 'wabaId'> & {
    at: string;
    statuses: readonly StatusWord[];
  })[];
  /** For all messages, regardless of the limit. */
  readonly byCallbackData: Readonly<Record<string, number>>;
}

/** Log of all accepted messages, for tests that each was sent once. */
export interface SentLog {
  add(message: AcceptedMessage, statuses?: readonly StatusWord[]): void;
  addStatus(wamid: string, status: StatusWord): void;
  /** Marks a held message as delivered to the phone. */
  release(wamid: string): void;
  has(wamid: string): boolean;
  all(): readonly SentMessage[];
  report(query: SentQuery): SentReport;
  clear(): void;
}

export function createSentLog(): SentLog {
  let messages: SentMessage[] = [];
  const byWamid = new Map<string, SentMessage>();
  const counts = new Map<string, number>();
  let duplicates = 0;

  return {
    add(message, statuses = []) {
      const entry: SentMessage = { ...message, statuses: [...statuses] };
      messages.push(entry);
      byWamid.set(message.wamid, entry);
      if (message.callbackData === undefined) return;
      const count = counts.get(message.callbackData) ?? 0;
      if (count > 0) duplicates += 1;
      counts.set(message.callbackData, count + 1);
    },
    addStatus(wamid, status) {
      const statuses = byWamid.get(wamid)?.statuses;
      if (statuses && !statuses.includes(status)) statuses.push(status);
    },
    release(wamid) {
      const message = byWamid.get(wamid);
      if (message) message.held = undefined;
    },
    has: wamid => byWamid.has(wamid),
    all: () => messages,
    report({ limit = 50, to, callbackData }) {
      const digits = to?.replace(/\D/g, '');
      const matching = messages.filter(
        m =>
          (callbackData === undefined || m.callbackData === callbackData) &&
          (to === undefined || m.to.replace(/\D/g, '') === digits || m.waId === digits || m.userId === to),
      );
      return {
        total: messages.length,
        duplicates,
        matched: matching.length,
        messages: (limit === 0 ? [] : matching.slice(-limit)).map(({ wabaId: _wabaId, seq: _seq, at, ...rest }) => ({
          ...rest,
          at: new Date(at).toISOString(),
        })),
        byCallbackData: Object.fromEntries(counts),
      };
    },
    clear() {
      messages = [];
      byWamid.clear();
      counts.clear();
      duplicates = 0;
    },
  };
}

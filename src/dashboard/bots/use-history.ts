import { useRef, useState } from 'react';
import { useClient } from 'urql';
import { PreviewBotHistoryDocument, type PreviewBotHistoryQuery } from '../documents.generated.ts';
import { presentTime } from '../ui/now.ts';
import { failureTexts } from '../ui/user-errors.tsx';

type Part = NonNullable<PreviewBotHistoryQuery['previewBotHistory']>;
export type TriedText = Part['answered'][number];

export interface History {
  readonly messageCount: number;
  readonly answeredCount: number;
  /** Names of bots with the number of messages that they would have answered. */
  readonly bots: readonly (readonly [name: string, count: number])[];
  /** Distinct texts, most frequent first: those that bots would have answered, and the others. */
  readonly answered: readonly TriedText[];
  readonly unanswered: readonly TriedText[];
  /** Whether every message of the week was tried. */
  readonly isComplete: boolean;
  readonly problem?: string;
}

const WEEK = 7 * 86_400_000;
/** Requests of up to 20,000 messages and fifty points each: together below the 600 points a minute of the page's session. */
const MAX_REQUESTS = 8;

/** Tries the bots on all messages of the last seven days, request by request, and shows what is known so far. */
export function useHistory(): {
  readonly history: History | undefined;
  readonly isRunning: boolean;
  run(botId: string | undefined): Promise<void>;
} {
  const graphql = useClient();
  const [history, setHistory] = useState<History>();
  const [isRunning, setRunning] = useState(false);
  const round = useRef(0);
  const run = async (botId: string | undefined): Promise<void> => {
    const startedRound = ++round.current;
    setRunning(true);
    setHistory(undefined);
    const since = new Date(presentTime() - WEEK).toISOString();
    const parts: Part[] = [];
    let after: string | undefined;
    let problem: string | undefined;
    do {
      const { data, error } = await graphql
        .query(PreviewBotHistoryDocument, { since, after, botId }, { requestPolicy: 'network-only' })
        .toPromise();
      if (startedRound !== round.current) return;
      if (data?.previewBotHistory) parts.push(data.previewBotHistory);
      else problem = error ? failureTexts(error).join(' ') : '';
      after = data?.previewBotHistory?.endCursor ?? undefined;
      setHistory({
        ...joined(parts),
        isComplete: after === undefined && problem === undefined,
        ...(problem !== undefined && { problem }),
      });
    } while (after !== undefined && parts.length < MAX_REQUESTS);
    setRunning(false);
  };
  return { history, isRunning, run };
}

function joined(parts: readonly Part[]): Omit<History, 'isComplete' | 'problem'> {
  const bots = new Map<string, readonly [string, number]>();
  for (const { bot, answeredCount } of parts.flatMap(part => part.bots))
    bots.set(bot.id, [bot.name, (bots.get(bot.id)?.[1] ?? 0) + answeredCount]);
  const texts = new Map<string, TriedText>();
  for (const text of parts.flatMap(({ answered, unanswered }) => [...answered, ...unanswered])) {
    const key = text.text.trim().toLowerCase();
    const known = texts.get(key);
    texts.set(key, known ? sumOf(known, text) : text);
  }
  const all = [...texts.values()].sort((one, other) => other.messageCount - one.messageCount);
  return {
    messageCount: sum(parts.map(part => part.messageCount)),
    answeredCount: sum(parts.map(part => part.answeredCount)),
    bots: [...bots.values()],
    answered: all.filter(({ answeredCount }) => answeredCount > 0),
    unanswered: all.filter(({ answeredCount }) => answeredCount === 0),
  };
}

const sumOf = (one: TriedText, other: TriedText): TriedText => ({
  ...(other.answeredCount > 0 || one.answeredCount === 0 ? other : one),
  messageCount: one.messageCount + other.messageCount,
  answeredCount: one.answeredCount + other.answeredCount,
});

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

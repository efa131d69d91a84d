import { useState } from 'react';
import { useClient } from 'urql';
import { PastMessagesDocument, PreviewBotDocument, type PreviewBotQuery } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { replyText } from './bot-reply.ts';

const WEEK = 7 * 86_400_000;

interface Tried {
  readonly id: string;
  readonly text: string;
  readonly at: string;
  readonly preview: NonNullable<PreviewBotQuery['previewBot']>;
}

interface Run {
  /** Text messages of the week. */
  readonly total: number;
  /** How many of them are tried: the latest. */
  readonly count: number;
  readonly tried: readonly Tried[];
  readonly problem?: string;
}

/** What the bots of today would have answered to the messages of last week. */
export function BotHistory() {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const graphql = useClient();
  const [run, setRun] = useState<Run>();
  const [isRunning, setRunning] = useState(false);
  if (!can('MESSAGES_READ')) return null;
  const start = async (): Promise<void> => {
    setRunning(true);
    const fresh = { requestPolicy: 'network-only' } as const;
    const since = new Date(Date.now() - WEEK).toISOString();
    const { data, error } = await graphql.query(PastMessagesDocument, { since }, fresh).toPromise();
    const messages = (data?.messages?.nodes ?? []).flatMap(({ id, createdAt, content }) =>
      'body' in content ? [{ id, at: createdAt, text: content.body }] : [],
    );
    let now: Run = { total: data?.messages?.totalCount ?? 0, count: messages.length, tried: [] };
    if (error) now = { ...now, problem: error.message };
    setRun(now);
    // What many people wrote is tried once: a preview costs ten points of the limit.
    const known = new Map<string, Tried['preview']>();
    for (const message of messages) {
      const variables = { text: message.text, isFirstMessage: false };
      let preview = known.get(message.text);
      if (!preview) {
        const answer = await graphql.query(PreviewBotDocument, variables, fresh).toPromise();
        if (!answer.data?.previewBot) {
          now = { ...now, problem: answer.error?.graphQLErrors[0]?.message ?? answer.error?.message ?? '' };
          setRun(now);
          break;
        }
        preview = answer.data.previewBot;
        known.set(message.text, preview);
      }
      now = { ...now, tried: [...now.tried, { ...message, preview }] };
      setRun(now);
    }
    setRunning(false);
  };
  const answered = run?.tried.filter(({ preview }) => preview.answers.length > 0) ?? [];
  const byBot = new Map<string, number>();
  for (const { preview } of answered)
    for (const { bot } of preview.answers) byBot.set(bot.name, (byBot.get(bot.name) ?? 0) + 1);
  return (
    <section className="card bot-test">
      <header className="page-head">
        <div>
          <h2>{t('bots.history')}</h2>
          <p className="muted small">{t('bots.historyHint')}</p>
        </div>
        <button type="button" className="button" disabled={isRunning} onClick={() => void start()}>
          <Icon name="replay" size={16} /> {t('bots.historyRun')}
        </button>
      </header>
      {run && (
        <div aria-live="polite">
          {run.total === 0 && <p className="muted">{t('bots.historyNone')}</p>}
          {run.problem !== undefined && <p className="notice danger">{run.problem}</p>}
          {run.tried.length > 0 && (
            <p>
              <strong>{t('bots.historyAnswered', { answered: answered.length, count: run.tried.length })}</strong>{' '}
              {run.total > run.count && (
                <span className="muted small">{t('bots.historyLatest', { count: run.count, total: run.total })}</span>
              )}
            </p>
          )}
          {isRunning && (
            <progress max={Math.max(1, run.count)} value={run.tried.length} aria-label={t('bots.history')} />
          )}
          <p className="tags">
            {[...byBot]
              .sort(([, one], [, other]) => other - one)
              .map(([name, count]) => (
                <span key={name} className="chip good">
                  {name}: {count}
                </span>
              ))}
          </p>
        </div>
      )}
      {run && run.tried.length > 0 && (
        <ul className="facts past-messages" aria-label={t('bots.history')}>
          {run.tried.map(({ id, text, at, preview }) => (
            <li key={id}>
              <span className="past-text">
                {text} <span className="muted small">{dates.full(at)}</span>
              </span>
              <span className="past-answer">
                {preview.answers.length === 0 ? (
                  <span className="muted small">
                    {t(preview.silence ? `silence.${preview.silence}` : 'bots.nobody')}
                  </span>
                ) : (
                  preview.answers.map(({ bot, reply }) => (
                    <span key={bot.id}>
                      <strong>{bot.name}</strong> <span className="small">{replyText(reply)}</span>
                    </span>
                  ))
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

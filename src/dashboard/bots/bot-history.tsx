import { useState } from 'react';
import type { BotItemFragment } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useReplyText } from './bot-reply.ts';
import { type TriedText, useHistory } from './use-history.ts';

/** Texts that are shown at first, and that each press of "more" adds. */
const SHOWN = 50;

/** Dry run of the current bots, or of one, on the messages of last week. */
export function BotHistory({ bots }: { readonly bots: readonly BotItemFragment[] }) {
  const { t, language } = useTexts();
  const { can } = useAccount();
  const { history, isRunning, run } = useHistory();
  const [botId, setBotId] = useState('');
  const [isAnswered, setAnswered] = useState(true);
  const [shown, setShown] = useState(SHOWN);
  if (!can('MESSAGES_READ')) return null;
  const texts = history ? (isAnswered ? history.answered : history.unanswered) : [];
  const share = history && history.messageCount > 0 ? history.answeredCount / history.messageCount : 0;
  const percent = share.toLocaleString(language, { style: 'percent', maximumFractionDigits: 1 });
  return (
    <section className="card bot-test" aria-label={t('bots.history')}>
      <header className="page-head">
        <div>
          <h2>{t('bots.history')}</h2>
          <p className="muted small">{t('bots.historyHint')}</p>
        </div>
        <div className="page-actions">
          <select aria-label={t('bots.historyOf')} value={botId} onChange={event => setBotId(event.target.value)}>
            <option value="">{t('bots.historyAll')}</option>
            {bots.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <button
            type="button"
            className="button"
            disabled={isRunning}
            onClick={() => {
              setShown(SHOWN);
              void run(botId || undefined);
            }}
          >
            <Icon name="replay" size={16} /> {t('bots.historyRun')}
          </button>
        </div>
      </header>
      {isRunning && <progress aria-label={t('bots.history')} />}
      {history && (
        <div className="form" aria-live="polite">
          {history.problem !== undefined && <p className="notice danger">{history.problem}</p>}
          {history.messageCount === 0 && history.isComplete && <p className="muted">{t('bots.historyNone')}</p>}
          {history.messageCount > 0 && (
            <p>
              <strong>
                {t('bots.historyAnswered', { answered: history.answeredCount, count: history.messageCount, percent })}
              </strong>{' '}
              {!isRunning && !history.isComplete && <span className="muted small">{t('bots.historyPart')}</span>}
            </p>
          )}
          <p className="tags">
            {history.bots.map(([name, count]) => (
              <span key={name} className={count > 0 ? 'chip good' : 'chip'}>
                {name}: {count.toLocaleString(language)}
              </span>
            ))}
          </p>
        </div>
      )}
      {history && history.messageCount > 0 && (
        <>
          <fieldset className="tabs" aria-label={t('bots.historyTexts')}>
            {[true, false].map(each => (
              <button
                key={String(each)}
                type="button"
                className="tab"
                aria-pressed={isAnswered === each}
                onClick={() => {
                  setAnswered(each);
                  setShown(SHOWN);
                }}
              >
                {t(each ? 'bots.textsAnswered' : 'bots.textsUnanswered')}
              </button>
            ))}
          </fieldset>
          {texts.length === 0 ? (
            <p className="muted">{t('bots.textsNone')}</p>
          ) : (
            <ul className="facts past-messages" aria-label={t('bots.historyTexts')}>
              {texts.slice(0, shown).map(text => (
                <PastText key={text.text} text={text} />
              ))}
            </ul>
          )}
          {texts.length > shown && (
            <button type="button" className="button small" onClick={() => setShown(shown + SHOWN)}>
              {t('more')}
            </button>
          )}
        </>
      )}
    </section>
  );
}

function PastText({
  text: { text, messageCount, answeredCount, answers, silence, lastMessage },
}: {
  readonly text: TriedText;
}) {
  const { t } = useTexts();
  const dates = useDates();
  const replyText = useReplyText();
  return (
    <li>
      <span className="past-text">
        <bdi>{text || t('bots.noText')}</bdi>{' '}
        <span className="muted small">
          {messageCount > 1 && `${t('bots.textTimes', { count: messageCount })} · `}
          {lastMessage && dates.full(lastMessage.createdAt)}
        </span>
      </span>
      <span className="past-answer">
        {answers.length === 0 ? (
          <span className="muted small">{t(silence ? `silence.${silence}` : 'bots.nobody')}</span>
        ) : (
          answers.map(({ bot, reply }) => (
            <span key={bot.id}>
              <strong>{bot.name}</strong> <bdi className="small">{replyText(reply)}</bdi>
            </span>
          ))
        )}
        {answeredCount > 0 && answeredCount < messageCount && (
          <span className="muted small">{t('bots.textTimesAnswered', { count: answeredCount })}</span>
        )}
      </span>
    </li>
  );
}

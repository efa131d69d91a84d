import { useDeferredValue, useState } from 'react';
import { useQuery } from 'urql';
import { PreviewBotDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useReplyText } from './bot-reply.ts';

/** Dry run of all bots on one message, with the reason of each that does not answer. */
export function BotTest() {
  const { t } = useTexts();
  const replyText = useReplyText();
  const [text, setText] = useState('');
  const deferredText = useDeferredValue(text.trim());
  const [{ data }] = useQuery({
    query: PreviewBotDocument,
    variables: { text: deferredText, isFirstMessage: false },
    pause: deferredText === '',
  });
  const preview = deferredText === '' ? undefined : data?.previewBot;
  return (
    <section className="card bot-test">
      <label className="field">
        <span>{t('bots.test')}</span>
        <input value={text} placeholder={t('bots.testPlaceholder')} onChange={event => setText(event.target.value)} />
      </label>
      {preview && (
        <div aria-live="polite">
          {preview.answers.length === 0 && (
            <p className="muted">{preview.silence ? t(`silence.${preview.silence}`) : t('bots.nobody')}</p>
          )}
          {preview.answers.map(({ bot, rule, reply }) => (
            <p key={bot.id} className="bot-answer">
              <Icon name="bots" size={18} />
              <span>
                <strong>{bot.name}</strong>{' '}
                {rule && (
                  <span className="muted small">
                    {t(`trigger.${rule.trigger}`)} {rule.keyword}
                  </span>
                )}
                <br />
                {replyText(reply)}
              </span>
            </p>
          ))}
        </div>
      )}
    </section>
  );
}

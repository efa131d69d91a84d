import { useEffect, useState } from 'react';
import { StatusTick } from '../inbox/status-tick.tsx';
import { WhatsAppText } from '../inbox/whatsapp-text.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import type { ChatMessage } from './emulator.ts';
import { type Choice, choicesOf, footerOf, headerOf, textOf } from './read-message.ts';
import { useEmulator } from './use-chat.ts';

type Say = (message: Readonly<Record<string, unknown>>) => void;

const EMOJI = ['👍', '❤️', '😂'];

interface Props {
  readonly message: ChatMessage;
  readonly onSay: Say;
  readonly onReply: () => void;
}

/** A message on the phone: buttons and list rows can be tapped. */
export function PhoneMessage({ message, onSay, onReply }: Props) {
  const { t } = useTexts();
  const dates = useDates();
  const { isFromPerson, type, content, wamid, at, status } = message;
  if (type === 'reaction')
    return <p className="phone-hint">{t('phone.reacted', { emoji: String(content['emoji'] ?? '') })}</p>;
  if (type === 'system') return <p className="phone-hint">{t('phone.changedNumber')}</p>;
  const text = textOf(message);
  const header = headerOf(message);
  const footer = footerOf(message);
  const tap = (choice: Choice): void => onSay({ ...choice.answer, replyTo: wamid });
  return (
    <article className={isFromPerson ? 'bubble ours' : 'bubble theirs'}>
      {!isFromPerson && message.from !== undefined && <p className="small phone-author">+{message.from}</p>}
      {header && <p className="template-header">{header}</p>}
      <PhoneMedia message={message} />
      {text && <WhatsAppText text={text} />}
      {footer && <p className="template-footer">{footer}</p>}
      <footer className="bubble-foot">
        {!isFromPerson && message.from === undefined && (
          <span className="phone-actions">
            {EMOJI.map(emoji => (
              <button
                key={emoji}
                type="button"
                aria-label={t('phone.react', { emoji })}
                onClick={() => onSay({ type: 'reaction', messageId: wamid, emoji, replyTo: undefined })}
              >
                {emoji}
              </button>
            ))}
            <button type="button" aria-label={t('phone.quote')} onClick={onReply}>
              <Icon name="reply" size={14} />
            </button>
          </span>
        )}
        <time dateTime={at}>{dates.time(at)}</time>
        {isFromPerson && <StatusTick status={status === 'read' ? 'READ' : 'DELIVERED'} />}
      </footer>
      <div className="template-buttons">
        {choicesOf(message).map(choice =>
          choice.answer ? (
            <button key={choice.key} type="button" className="phone-choice" onClick={() => tap(choice)}>
              {choice.title} {choice.description && <span className="muted small">{choice.description}</span>}
            </button>
          ) : (
            <span key={choice.key}>{choice.title}</span>
          ),
        )}
      </div>
    </article>
  );
}

function PhoneMedia({ message: { type, content } }: { readonly message: ChatMessage }) {
  const { t } = useTexts();
  const emulator = useEmulator();
  const id = typeof content['id'] === 'string' ? content['id'] : undefined;
  const isFile = ['image', 'video', 'audio', 'document', 'sticker'].includes(type);
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!isFile || id === undefined) return;
    let isCurrent = true;
    let made: string | undefined;
    void emulator.media(id).then(
      address => {
        made = address;
        if (isCurrent) setUrl(address);
        else URL.revokeObjectURL(address);
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [emulator, id, isFile]);
  if (!isFile) return null;
  if (url !== undefined && (type === 'image' || type === 'sticker'))
    return <img className="phone-picture" src={url} alt={String(content['caption'] ?? t('phone.picture'))} />;
  if (url !== undefined && (type === 'audio' || type === 'video')) {
    const Player = type;
    return (
      <Player
        className={`phone-${type}`}
        src={url}
        controls
        aria-label={t(type === 'audio' ? 'phone.voice' : 'phone.video')}
      />
    );
  }
  return (
    <p className="file">
      <Icon name={type === 'image' ? 'image' : 'file'} />
      <span className="ellipsis">{String(content['filename'] ?? content['link'] ?? type)}</span>
    </p>
  );
}

import { useEffect, useState } from 'react';
import { StatusTick } from '../inbox/status-tick.tsx';
import { WhatsAppText } from '../inbox/whatsapp-text.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import type { ChatMessage } from './emulator.ts';
import { type Choice, choicesOf, fileOf, footerOf, headerOf, type PhoneFile, textOf } from './read-message.ts';
import { useEmulator } from './use-chat.ts';

type Say = (message: Readonly<Record<string, unknown>>) => void;

const EMOJI = ['👍', '❤️', '😂'];

interface Props {
  readonly message: ChatMessage;
  /** The message that it quotes. */
  readonly quoted: ChatMessage | undefined;
  readonly onSay: Say;
  readonly onReply: () => void;
  /** Takes the text of the person's own message into the field, to change it. */
  readonly onEdit: () => void;
}

/** A message on the phone: buttons and list rows can be tapped. */
export function PhoneMessage({ message, quoted, onSay, onReply, onEdit }: Props) {
  const { t } = useTexts();
  const dates = useDates();
  const { isFromPerson, type, wamid, at, status, isEdited, isRevoked, reactions } = message;
  if (type === 'system') return <p className="phone-hint">{t('phone.changedNumber')}</p>;
  const text = textOf(message);
  const header = headerOf(message);
  const footer = footerOf(message);
  const file = fileOf(message);
  const tap = (choice: Choice): void => onSay({ ...choice.answer, replyTo: wamid });
  const side = isFromPerson ? 'bubble ours' : 'bubble theirs';
  if (isRevoked)
    return (
      <article className={side}>
        <p className="phone-deleted">{t(isFromPerson ? 'phone.youDeleted' : 'phone.deleted')}</p>
        <footer className="bubble-foot">
          <time dateTime={at}>{dates.time(at)}</time>
        </footer>
      </article>
    );
  const ours = reactions.find(reaction => reaction.isFromPerson)?.emoji;
  return (
    <article className={reactions.length > 0 ? `${side} reacted` : side}>
      {!isFromPerson && message.from !== undefined && <p className="small phone-author">+{message.from}</p>}
      {quoted && (
        <blockquote className="quote">
          <span className="ellipsis" dir="auto">
            {quoted.isRevoked ? t('phone.deleted') : (textOf(quoted) ?? quoted.text ?? quoted.type)}
          </span>
        </blockquote>
      )}
      {header && (
        <p className="template-header" dir="auto">
          {header}
        </p>
      )}
      {file && <PhoneMedia file={file} />}
      {text && <WhatsAppText text={text} />}
      {footer && (
        <p className="template-footer" dir="auto">
          {footer}
        </p>
      )}
      <footer className="bubble-foot">
        {!isFromPerson && message.from === undefined && (
          <span className="phone-actions">
            {EMOJI.map(emoji => (
              <button
                key={emoji}
                type="button"
                aria-label={t('phone.react', { emoji })}
                aria-pressed={emoji === ours}
                onClick={() =>
                  onSay({
                    type: 'reaction',
                    messageId: wamid,
                    emoji: emoji === ours ? '' : emoji,
                    replyTo: undefined,
                  })
                }
              >
                {emoji}
              </button>
            ))}
            <button type="button" aria-label={t('phone.quote')} onClick={onReply}>
              <Icon name="reply" size={14} />
            </button>
          </span>
        )}
        {isFromPerson && (
          <span className="phone-actions">
            {type === 'text' && (
              <button type="button" aria-label={t('phone.edit')} title={t('phone.edit')} onClick={onEdit}>
                <Icon name="edit" size={14} />
              </button>
            )}
            <button
              type="button"
              aria-label={t('phone.delete')}
              title={t('phone.delete')}
              onClick={() => onSay({ type: 'revoke', messageId: wamid, replyTo: undefined })}
            >
              <Icon name="trash" size={14} />
            </button>
          </span>
        )}
        {isEdited && <span>{t('message.edited')}</span>}
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
      {reactions.length > 0 && (
        <p className="reactions">
          <span className="visually-hidden">{t('message.reactions')}</span>
          {reactions.map(({ emoji }) => emoji).join(' ')}
        </p>
      )}
    </article>
  );
}

function PhoneMedia({ file: { type, content } }: { readonly file: PhoneFile }) {
  const { t } = useTexts();
  const emulator = useEmulator();
  const id = typeof content['id'] === 'string' ? content['id'] : undefined;
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (id === undefined) return;
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
  }, [emulator, id]);
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
      <span className="ellipsis" dir="auto">
        {String(content['filename'] ?? content['link'] ?? type)}
      </span>
    </p>
  );
}

import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { base64Of } from './base64.ts';
import type { ChatMessage } from './emulator.ts';
import { PhoneMenu } from './phone-menu.tsx';
import { PhoneMessage } from './phone-message.tsx';
import { textOf } from './read-message.ts';
import { useChat, useEmulator, useNumbers } from './use-chat.ts';
import { VoiceButton } from './voice-button.tsx';

interface Props {
  readonly phone: string;
  readonly name: string;
  /** The number of the business that is written to at first, as it is displayed; undefined: the first one. */
  readonly businessNumber?: string | undefined;
  readonly onClose?: (() => void) | undefined;
  /** The person has another number now. Absent: it cannot be changed here. */
  readonly onNumber?: ((phone: string) => void) | undefined;
}

/** The customer's side of a conversation: receives what the business sent, and answers. */
export function PhoneDevice({ phone, name, businessNumber, onClose, onNumber }: Props) {
  const { t } = useTexts();
  const numbers = useNumbers();
  const [chosenId, choose] = useState<string>();
  const numberId = chosenId ?? numbers?.find(each => each.phone === businessNumber)?.phoneNumberId;
  const emulator = useEmulator(numberId);
  const [groupId, setGroup] = useState<string>();
  const { chat, reload } = useChat(emulator, phone, groupId);
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const [replyTo, setReplyTo] = useState<ChatMessage>();
  const [edited, setEdited] = useState<ChatMessage>();
  const list = useRef<HTMLDivElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const lastId = chat?.messages[chat.messages.length - 1]?.wamid;
  useEffect(() => {
    if (lastId !== undefined) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [lastId]);

  const run = (action: Promise<void>): Promise<void> =>
    action.then(
      () => {
        setProblem(undefined);
        reload();
      },
      (error: Error) => setProblem(error.message),
    );
  const say = (message: Readonly<Record<string, unknown>>): void => {
    const quoted = replyTo ? { replyTo: replyTo.wamid } : {};
    setReplyTo(undefined);
    const place = groupId === undefined ? {} : { groupId };
    void run(emulator.inbound({ from: phone, profileName: name, ...place, ...quoted, ...message }));
  };
  const group = chat?.groups.find(each => each.groupId === groupId);
  const isMuted = (chat?.isOffline || chat?.isBlocking) ?? false;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    if (edited) say({ type: 'edit', messageId: edited.wamid, text: text.trim(), replyTo: undefined });
    else say({ text: text.trim() });
    setText('');
    setEdited(undefined);
  };
  const edit = (message: ChatMessage): void => {
    setReplyTo(undefined);
    setEdited(message);
    setText(message.text ?? textOf(message) ?? '');
    field.current?.focus();
  };
  const shownAbove = replyTo ?? edited;
  const sendFile = async (picked: File | undefined): Promise<void> => {
    if (!picked) return;
    const type = /^(image|video|audio)\//.exec(picked.type)?.[1] ?? 'document';
    say({
      type,
      mimeType: picked.type || 'application/octet-stream',
      dataBase64: await base64Of(picked),
      ...(type === 'document' && { filename: picked.name }),
    });
  };
  return (
    <section className="phone" aria-label={t('phone.of', { name })}>
      <header className="phone-head">
        <div className="phone-speaker" />
        <div className="phone-bar">
          <strong className="ellipsis" dir="auto">
            {group?.subject ?? chat?.number.name ?? ' '}
          </strong>
          <span className="small ellipsis">
            <bdi>{name}</bdi> · <bdi>{phone}</bdi>
          </span>
        </div>
        {chat && (
          <PhoneMenu
            phone={phone}
            name={name}
            chat={chat}
            emulator={emulator}
            numbers={numbers ?? []}
            onBusiness={id => {
              setGroup(undefined);
              choose(id);
            }}
            groupId={groupId}
            onGroup={setGroup}
            onNumber={onNumber}
            onAction={run}
          />
        )}
        {onClose && (
          <button type="button" className="icon-button small" aria-label={t('close')} onClick={onClose}>
            <Icon name="close" size={16} />
          </button>
        )}
      </header>
      {isMuted && (
        <p className="phone-state small" role="status">
          {t(chat?.isOffline ? 'phone.isOffline' : 'phone.isBlocking')}
        </p>
      )}
      <div className="phone-screen" ref={list} role="log" aria-label={t('thread.messages')} {...SCROLLABLE}>
        {chat?.messages.length === 0 && <p className="phone-hint">{t('phone.hint')}</p>}
        {chat?.messages.map(message => (
          <PhoneMessage
            key={message.wamid}
            message={message}
            quoted={chat.messages.find(({ wamid }) => wamid === message.replyTo)}
            onSay={say}
            onReply={() => setReplyTo(message)}
            onEdit={() => edit(message)}
          />
        ))}
      </div>
      {problem !== undefined && (
        <p className="notice danger" role="alert">
          {problem}
        </p>
      )}
      {shownAbove && (
        <p className="phone-quote small">
          <span className="ellipsis">
            {edited ? `${t('phone.edit')}: ` : ''}
            {textOf(shownAbove) ?? shownAbove.text ?? shownAbove.type}
          </span>
          <button
            type="button"
            className="icon-button small"
            aria-label={t('cancel')}
            onClick={() => {
              if (edited) setText('');
              setReplyTo(undefined);
              setEdited(undefined);
            }}
          >
            <Icon name="close" size={14} />
          </button>
        </p>
      )}
      <form className="phone-input" onSubmit={submit}>
        <input
          ref={file}
          type="file"
          hidden
          aria-label={t('composer.attach')}
          onChange={event => {
            void sendFile(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
        <button
          type="button"
          className="icon-button"
          disabled={isMuted}
          aria-label={t('composer.attach')}
          onClick={() => file.current?.click()}
        >
          <Icon name="attach" />
        </button>
        <VoiceButton isDisabled={isMuted} onVoice={say} />
        <input
          ref={field}
          disabled={isMuted}
          aria-label={t('phone.write', { name })}
          placeholder={t('phone.placeholder')}
          value={text}
          onChange={event => setText(event.target.value)}
        />
        <button type="submit" className="icon-button phone-send" disabled={isMuted} aria-label={t('phone.send')}>
          <Icon name="send" size={18} />
        </button>
      </form>
    </section>
  );
}

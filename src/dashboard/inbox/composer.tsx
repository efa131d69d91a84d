import { useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useMutation } from 'urql';
import { type ContentInput, type ConversationRowFragment, CreateNoteDocument } from '../documents.generated.ts';
import type { Colleague } from '../presence/use-colleagues.ts';
import { useTyping } from '../presence/use-typing.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useNow } from '../ui/now.ts';
import { UserErrors } from '../ui/user-errors.tsx';
import { AnsweredDialog } from './answered-dialog.tsx';
import { AttachmentList, useAttachments } from './attachments.tsx';
import { CannedDialog } from './canned-dialog.tsx';
import { CannedReplies, type CannedReply } from './canned-replies.tsx';
import { ChoiceDialog } from './choice-dialog.tsx';
import { type ComposerDialog, ComposerTools } from './composer-tools.tsx';
import { ComposerHint, MissedAnswer, QuotedMessage, RefusedFiles } from './composer-warnings.tsx';
import { useDraft } from './draft.ts';
import { type Attachment, releasePreview, useConversationDraft, withUnsent } from './draft-store.tsx';
import { useInboxCommand } from './keys.tsx';
import { NOTES_CHANGED } from './note-signal.ts';
import { SendLaterDialog } from './send-later.tsx';
import { TemplateDialog } from './template-dialog.tsx';
import { useFileDrop } from './use-file-drop.ts';
import { useSend } from './use-send.ts';
import { useSendOnce } from './use-send-once.ts';

interface Props {
  readonly conversation: ConversationRowFragment;
  readonly colleagues: readonly Colleague[];
  /** Takes files that are dropped on it. */
  readonly dropArea: HTMLElement | null;
  /** Shows the notes: they do not stand in the thread. */
  readonly onNoted: () => void;
}

/** Writes to the person, or a note to colleagues. */
export function Composer({ conversation, colleagues, dropArea, onNoted }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const [{ mode, text, sending }, keep] = useConversationDraft(conversation.id);
  const [dialog, setDialog] = useState<ComposerDialog>();
  const [canned, setCanned] = useState<CannedReply>();
  const [refused, setRefused] = useState<'note' | 'window'>();
  const root = useRef<HTMLFieldSetElement>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  const attachments = useAttachments(conversation.id);
  const draft = useDraft();
  const { send, errors, failure, blockedSend } = useSend(conversation.id);
  // From the first message to the last: in between the text is empty, but the draft is not done.
  // It is the draft's: the thread may be left and opened again meanwhile.
  const isSending = sending !== undefined;
  const [noted, createNote] = useMutation(CreateNoteDocument);
  const sendOnce = useSendOnce(conversation.id);
  const now = useNow();
  const notifyTyping = useTyping();
  const { serviceWindow } = conversation;
  const isOpen = serviceWindow.expiresAt !== null && Date.parse(serviceWindow.expiresAt) > now;
  const isNote = mode === 'note';
  const isBlocked = !isNote && !isOpen;
  const isEmpty = text.trim() === '' && attachments.list.length === 0;
  const isWriting =
    !isNote && (!isEmpty || dialog !== undefined || canned !== undefined || isSending || draft.replyTo !== undefined);
  const { setWriting, replyTo } = draft;
  useLayoutEffect(() => setWriting(isWriting), [setWriting, isWriting]);
  useLayoutEffect(() => {
    if (replyTo) input.current?.focus();
  }, [replyTo]);

  const write = (next: string): void => {
    keep({ text: next });
    setRefused(undefined);
    notifyTyping(next);
  };
  const switchMode = (next: 'reply' | 'note'): void => {
    // At once: what is typed next belongs here, and the field is not disabled for a note.
    flushSync(() => keep({ mode: next }));
    setRefused(undefined);
    input.current?.focus();
  };
  // What is removed takes the focus with it. A disabled field cannot have it.
  const focus = (): void => (isBlocked ? root : input).current?.focus();
  useInboxCommand(command => {
    if (command === 'reply') switchMode('reply');
    if (command === 'note' && can('NOTES_WRITE')) switchMode('note');
  });
  const insert = (piece: string): void => {
    const { selectionStart = text.length, selectionEnd = text.length } = input.current ?? {};
    write(text.slice(0, selectionStart) + piece + text.slice(selectionEnd));
    const end = selectionStart + piece.length;
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(end, end);
    });
  };
  const note = async (body: string): Promise<void> => {
    keep({ sending: { mode, text: body, attachments: [] } });
    write('');
    const input = { conversationId: conversation.id, body };
    const { data } = await sendOnce(input, keyed => createNote({ input: keyed }), 'createNote');
    if (!data?.createNote?.note) return keep(withUnsent);
    keep({ sending: undefined });
    window.dispatchEvent(new Event(NOTES_CHANGED));
    onNoted();
  };
  /** @param scheduledAt ISO 8601; undefined: now */
  const submit = async (scheduledAt?: string): Promise<void> => {
    const body = text.trim();
    if (isNote) return body === '' || isSending ? undefined : note(body);
    if (isBlocked || isEmpty || isSending || attachments.isIncomplete) return;
    const contents = contentsOf(body, attachments.list);
    if (contents.length === 0) return;
    const files = filesOf(attachments.list);
    const quotedId = replyTo?.id;
    const unsentAfter = (sent: number) => ({
      mode,
      text: contents.slice(0, sent).some(({ media }) => media?.caption === body) ? '' : body,
      attachments: files.slice(sent),
    });
    let sent = 0;
    keep({ sending: unsentAfter(sent) });
    write('');
    attachments.clear();
    // One after the other: the person gets them in this order.
    while (sent < contents.length && (await send(contents[sent] as ContentInput, { scheduledAt }))) {
      files.slice(sent, sent + 1).forEach(releasePreview);
      sent += 1;
      keep({ sending: unsentAfter(sent) });
    }
    if (sent < contents.length) return keep(withUnsent);
    // Another message that was quoted meanwhile is of the next answer.
    keep(before => ({ sending: undefined, ...(before.replyTo?.id === quotedId && { replyTo: undefined }) }));
  };
  const addFiles = (files: FileList): void => {
    if (files.length === 0) return;
    setRefused(isNote ? 'note' : isBlocked ? 'window' : undefined);
    if (!isNote && !isBlocked) attachments.add(files);
  };
  const isDragging = useFileDrop(dropArea, addFiles) && !isNote && !isBlocked;
  const isIdle = isBlocked || isSending || attachments.isIncomplete || isEmpty;
  return (
    <fieldset
      ref={root}
      tabIndex={-1}
      className={`composer ${mode}${isDragging ? ' dragging' : ''}`}
      aria-label={t('composer.label')}
    >
      <fieldset className="composer-tabs" aria-label={t('composer.mode')}>
        <button type="button" className="tab" aria-pressed={!isNote} onClick={() => switchMode('reply')}>
          {t('composer.reply')}
        </button>
        {can('NOTES_WRITE') && (
          <button type="button" className="tab" aria-pressed={isNote} onClick={() => switchMode('note')}>
            {t('composer.note')}
          </button>
        )}
        {!isNote && <ComposerHint conversation={conversation} colleagues={colleagues} />}
      </fieldset>
      {isBlocked && (
        <div className="notice">
          <p>{t('composer.windowClosed')}</p>
          <button type="button" className="button primary small" onClick={() => setDialog('template')}>
            {t('composer.sendTemplate')}
          </button>
        </div>
      )}
      {!isNote && <MissedAnswer onClose={focus} />}
      {!isNote && <QuotedMessage onClose={focus} />}
      <RefusedFiles reason={refused} />
      {!isNote && <AttachmentList attachments={attachments} onRemove={focus} />}
      <CannedReplies
        text={isNote ? '' : text}
        onChoose={reply => {
          if (reply.content.__typename === 'TextContent') {
            write(reply.content.body);
            requestAnimationFrame(() => input.current?.focus());
            return;
          }
          write('');
          setCanned(reply);
        }}
      />
      <textarea
        ref={input}
        className="composer-input"
        aria-label={isNote ? t('composer.note') : t('composer.message')}
        placeholder={isNote ? t('composer.notePlaceholder') : t('composer.placeholder')}
        // An empty field has the direction of its placeholder.
        dir={text === '' ? undefined : 'auto'}
        value={text}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        disabled={isBlocked}
        onChange={event => write(event.target.value)}
        onPaste={event => addFiles(event.clipboardData.files)}
        onKeyDown={event => {
          if (event.key === 'Escape') event.currentTarget.blur();
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || event.defaultPrevented)
            return;
          event.preventDefault();
          void submit();
        }}
      />
      <div className="composer-foot">
        {!isNote && <ComposerTools isBlocked={isBlocked} onFiles={addFiles} onDialog={setDialog} onInsert={insert} />}
        <span className="composer-keys muted small">{t('composer.keys')}</span>
        {!isNote && (
          <button
            type="button"
            className="icon-button"
            aria-label={t('later.title')}
            title={t('later.title')}
            disabled={isIdle}
            onClick={() => setDialog('later')}
          >
            <Icon name="clock" />
          </button>
        )}
        <button
          type="button"
          className="button primary"
          disabled={isNote ? text.trim() === '' || isSending : isIdle}
          onClick={() => void submit()}
        >
          <Icon name={isNote ? 'note' : 'send'} size={17} /> {isNote ? t('composer.addNote') : t('composer.send')}
        </button>
      </div>
      <UserErrors
        errors={isNote ? (noted.data?.createNote?.userErrors ?? []) : errors}
        failure={isNote ? noted.error : failure}
      />
      {dialog === 'template' && <TemplateDialog conversation={conversation} onClose={() => setDialog(undefined)} />}
      {dialog === 'choice' && <ChoiceDialog conversation={conversation} onClose={() => setDialog(undefined)} />}
      {canned && <CannedDialog conversation={conversation} reply={canned} onClose={() => setCanned(undefined)} />}
      {dialog === 'later' && (
        <SendLaterDialog
          title={t('later.title')}
          action={t('later.schedule')}
          windowEnd={serviceWindow.expiresAt}
          onChoose={instant => {
            setDialog(undefined);
            void submit(instant);
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
      {blockedSend && <AnsweredDialog blockedSend={blockedSend} />}
    </fieldset>
  );
}

/** The messages that a text and files become: the first file has the text as its caption. */
function contentsOf(body: string, list: readonly Attachment[]): ContentInput[] {
  const files = filesOf(list);
  if (files.length === 0) return body === '' ? [] : [{ text: { body } }];
  const captioned = files.findIndex(({ kind }) => kind !== 'AUDIO');
  const contents = files.map(
    ({ kind, mediaId, name }, index): ContentInput => ({
      media: {
        kind,
        file: { mediaId },
        ...(kind === 'DOCUMENT' && { filename: name }),
        ...(index === captioned && body !== '' && { caption: body }),
      },
    }),
  );
  // Voice messages have no caption: what was written follows them.
  return body !== '' && captioned < 0 ? [...contents, { text: { body } }] : contents;
}

/** Uploaded attachments only. */
const filesOf = (list: readonly Attachment[]) =>
  list.filter((each): each is Attachment & { mediaId: string } => each.mediaId !== undefined);

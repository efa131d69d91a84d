import { type DragEvent, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useMutation } from 'urql';
import { type ConversationRowFragment, CreateNoteDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { useNow } from '../ui/now.ts';
import { UserErrors } from '../ui/user-errors.tsx';
import { type Attachment, AttachmentList, useAttachments } from './attachments.tsx';
import { CannedReplies } from './canned-replies.tsx';
import { ChoiceDialog } from './choice-dialog.tsx';
import { useInboxCommand } from './keys.tsx';
import { NOTES_CHANGED } from './note-signal.ts';
import { TemplateDialog } from './template-dialog.tsx';
import { useSend } from './use-send.ts';

const MERGE_FIELDS = ['contact_first_name', 'contact_full_name', 'contact_company', 'contact_email'] as const;

/** Writes to the person, or a note to colleagues. */
export function Composer({ conversation }: { readonly conversation: ConversationRowFragment }) {
  const { t } = useTexts();
  const { can, viewer } = useAccount();
  const [mode, setMode] = useState<'reply' | 'note'>('reply');
  const [text, setText] = useState('');
  const [dialog, setDialog] = useState<'template' | 'choice'>();
  const [isDragging, setDragging] = useState(false);
  const input = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const attachments = useAttachments();
  const { send, errors, failure } = useSend(conversation.id);
  const [noted, createNote] = useMutation(CreateNoteDocument);
  const now = useNow();
  const { assignee, serviceWindow } = conversation;
  const isOpen = serviceWindow.expiresAt !== null && Date.parse(serviceWindow.expiresAt) > now;
  const isNote = mode === 'note';
  const isBlocked = !isNote && !isOpen;
  const other = assignee && viewer.staffMember && assignee.id !== viewer.staffMember.id ? assignee.name : undefined;

  const change = (next: 'reply' | 'note'): void => {
    // At once: what is typed next belongs here, and the field is not disabled for a note.
    flushSync(() => setMode(next));
    input.current?.focus();
  };
  useInboxCommand(command => {
    if (command === 'reply') change('reply');
    if (command === 'note' && can('NOTES_WRITE')) change('note');
  });
  const insert = (piece: string): void => {
    const { selectionStart = text.length, selectionEnd = text.length } = input.current ?? {};
    setText(text.slice(0, selectionStart) + piece + text.slice(selectionEnd));
    requestAnimationFrame(() => input.current?.focus());
  };
  const submit = async (): Promise<void> => {
    const body = text.trim();
    if (isNote) {
      if (body === '') return;
      const { data } = await createNote({ input: { conversationId: conversation.id, body } });
      if (!data?.createNote?.note) return;
      setText('');
      window.dispatchEvent(new Event(NOTES_CHANGED));
      return;
    }
    if (isBlocked || attachments.isUploading) return;
    const files = attachments.list.filter(
      (each): each is Attachment & { mediaId: string } => each.mediaId !== undefined,
    );
    if (files.length === 0 && body === '') return;
    setText('');
    attachments.clear();
    const contents =
      files.length === 0
        ? [{ text: { body } }]
        : files.map(({ kind, mediaId, name }, index) => ({
            media: {
              kind,
              file: { mediaId },
              ...(kind === 'DOCUMENT' && { filename: name }),
              ...(index === 0 && body !== '' && kind !== 'AUDIO' && { caption: body }),
            },
          }));
    // One after the other: the person gets them in this order.
    for (const content of contents) if (!(await send(content))) return setText(before => before || body);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setDragging(false);
    if (!isBlocked) attachments.add(event.dataTransfer.files);
  };
  return (
    <fieldset
      className={`composer ${mode}${isDragging ? ' dragging' : ''}`}
      aria-label={t('composer.label')}
      onDragOver={event => {
        event.preventDefault();
        setDragging(!isNote);
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={drop}
    >
      <fieldset className="composer-tabs" aria-label={t('composer.mode')}>
        <button type="button" className="tab" aria-pressed={!isNote} onClick={() => change('reply')}>
          {t('composer.reply')}
        </button>
        {can('NOTES_WRITE') && (
          <button type="button" className="tab" aria-pressed={isNote} onClick={() => change('note')}>
            {t('composer.note')}
          </button>
        )}
        {other !== undefined && !isNote && (
          <span className="composer-hint">{t('composer.assigned', { name: other })}</span>
        )}
      </fieldset>
      {isBlocked && (
        <div className="notice">
          <p>{t('composer.windowClosed')}</p>
          <button type="button" className="button primary small" onClick={() => setDialog('template')}>
            {t('composer.sendTemplate')}
          </button>
        </div>
      )}
      <AttachmentList attachments={attachments} />
      <CannedReplies
        text={isNote ? '' : text}
        onChoose={reply => {
          if (reply.text !== undefined) setText(reply.text);
          else {
            setText('');
            void send({ cannedReplyId: reply.id });
          }
          requestAnimationFrame(() => input.current?.focus());
        }}
      />
      <textarea
        ref={input}
        className="composer-input"
        aria-label={isNote ? t('composer.note') : t('composer.message')}
        placeholder={isNote ? t('composer.notePlaceholder') : t('composer.placeholder')}
        value={text}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        disabled={isBlocked}
        onChange={event => setText(event.target.value)}
        onPaste={event => attachments.add(event.clipboardData.files)}
        onKeyDown={event => {
          if (event.key === 'Escape') event.currentTarget.blur();
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || event.defaultPrevented)
            return;
          event.preventDefault();
          void submit();
        }}
      />
      <div className="composer-foot">
        {!isNote && (
          <>
            <input
              ref={file}
              type="file"
              multiple
              hidden
              aria-label={t('composer.attach')}
              onChange={event => {
                if (event.target.files) attachments.add(event.target.files);
                event.target.value = '';
              }}
            />
            <button
              type="button"
              className="icon-button"
              aria-label={t('composer.attach')}
              title={t('composer.attach')}
              disabled={isBlocked}
              onClick={() => file.current?.click()}
            >
              <Icon name="attach" />
            </button>
            {can('TEMPLATES_READ') && (
              <button
                type="button"
                className="icon-button"
                aria-label={t('composer.sendTemplate')}
                title={t('composer.sendTemplate')}
                onClick={() => setDialog('template')}
              >
                <Icon name="templates" />
              </button>
            )}
            <button
              type="button"
              className="icon-button"
              aria-label={t('composer.choice')}
              title={t('composer.choice')}
              disabled={isBlocked}
              onClick={() => setDialog('choice')}
            >
              <Icon name="list" />
            </button>
            <Menu
              label={t('composer.mergeField')}
              isUp
              buttonClass="icon-button"
              button={<span aria-hidden="true">{'{ }'}</span>}
              items={MERGE_FIELDS.map(name => ({
                id: name,
                label: t(`merge.${name}`),
                onSelect: () => insert(`@{${name}${name === 'contact_first_name' ? `|${t('merge.there')}` : ''}}`),
              }))}
            />
          </>
        )}
        <span className="composer-keys muted small">{t('composer.keys')}</span>
        <button
          type="button"
          className="button primary"
          disabled={isBlocked || attachments.isUploading || (text.trim() === '' && attachments.list.length === 0)}
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
    </fieldset>
  );
}

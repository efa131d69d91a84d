import type { MediaKind } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { uploadFault } from '../texts/faults.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { sizeText } from '../ui/size.ts';
import { shareOf } from '../ui/upload-share.ts';
import { type Attachment, releasePreview, useConversationDraft } from './draft-store.tsx';

export interface Attachments {
  readonly list: readonly Attachment[];
  /** Whether a file is not uploaded: not yet, or because it was refused. */
  readonly isIncomplete: boolean;
  add(files: FileList): void;
  remove(key: string): void;
  clear(): void;
}

/** The kinds that the network shows as such; anything else is a document. */
function kindOf(type: string): MediaKind {
  if (/^image\/(jpeg|png)$/.test(type)) return 'IMAGE';
  if (/^video\/(mp4|3gpp)$/.test(type)) return 'VIDEO';
  if (/^audio\/(aac|mp4|mpeg|amr|ogg)/.test(type)) return 'AUDIO';
  return 'DOCUMENT';
}

/** Files of the draft of a conversation, which are uploaded while the text is still being written, or another thread is read. */
export function useAttachments(conversationId: string): Attachments {
  const { client } = useAccount();
  const { faultText } = useTexts();
  const [{ attachments: list }, keep] = useConversationDraft(conversationId);
  const setList = (change: (before: readonly Attachment[]) => readonly Attachment[]): void =>
    keep(({ attachments }) => ({ attachments: change(attachments) }));
  const patch = (key: string, change: Partial<Attachment>): void =>
    setList(before => before.map(each => (each.key === key ? { ...each, ...change } : each)));
  return {
    list,
    isIncomplete: list.some(({ mediaId }) => mediaId === undefined),
    add(files) {
      for (const file of files) {
        const key = `${Date.now()}-${Math.random()}`;
        const kind = kindOf(file.type);
        const previewUrl = kind === 'IMAGE' ? URL.createObjectURL(file) : undefined;
        const { name, size } = file;
        setList(before => [
          ...before,
          { key, name, size, kind, previewUrl, progress: 0, mediaId: undefined, problem: undefined },
        ]);
        client
          .upload(file, {
            filename: name,
            onProgress: progress => patch(key, { progress: shareOf(progress) }),
          })
          .then(
            mediaId => patch(key, { mediaId, progress: 1 }),
            (error: Error) => patch(key, { problem: faultText(uploadFault(error)) }),
          );
      }
    },
    remove(key) {
      list.filter(each => each.key === key).forEach(releasePreview);
      setList(before => before.filter(each => each.key !== key));
    },
    clear: () => setList(() => []),
  };
}

interface ListProps {
  readonly attachments: Attachments;
  /** Called when one is removed, whose button had the focus. */
  readonly onRemove: () => void;
}

export function AttachmentList({ attachments, onRemove }: ListProps) {
  const { t, language } = useTexts();
  if (attachments.list.length === 0) return null;
  return (
    <ul className="attachments">
      {attachments.list.map(({ key, name, size, previewUrl, progress, mediaId, problem }) => (
        <li key={key} className={problem === undefined ? 'attachment' : 'attachment failed'}>
          {previewUrl ? <img src={previewUrl} alt="" /> : <Icon name="file" />}
          <span className="attachment-name ellipsis" dir="auto">
            {name}
          </span>
          <span className="muted small">{problem ?? <bdi>{sizeText(size, language)}</bdi>}</span>
          {mediaId === undefined && problem === undefined && (
            <progress value={progress} aria-label={t('composer.uploading', { name })} />
          )}
          <button
            type="button"
            className="icon-button small"
            aria-label={t('composer.removeFile', { name })}
            onClick={() => {
              attachments.remove(key);
              onRemove();
            }}
          >
            <Icon name="close" size={15} />
          </button>
        </li>
      ))}
    </ul>
  );
}

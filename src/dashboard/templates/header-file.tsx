import { useEffect, useRef, useState } from 'react';
import { useAccount } from '../session/account.tsx';
import '../styles/templates.css';
import { uploadFault } from '../texts/faults.ts';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { shareOf } from '../ui/upload-share.ts';
import { FILE_TYPES, isFileKind } from './template-draft.ts';
import type { Template } from './use-templates.ts';

type Values = Readonly<Record<string, string>>;

interface Props {
  readonly template: Template;
  /** `header.mediaId` of an upload, or `header.link`. */
  readonly values: Values;
  readonly onChange: (change: (before: Values) => Values) => void;
  /** Called when an upload begins and ends: until then, the values lack the file. */
  readonly onUploading: (isUploading: boolean) => void;
}

interface Upload {
  readonly name: string;
  /** 0 to 1 while it is uploaded. */
  readonly progress?: number;
  readonly problem?: string;
}

/** The file of a template's header: uploaded once, or a link from which the network downloads it. */
export function HeaderFile({ template, values, onChange, onUploading }: Props) {
  const { t, faultText } = useTexts();
  const { client } = useAccount();
  const [file, setFile] = useState<Upload>();
  const running = useRef<AbortController>(undefined);
  // Another template is chosen: the file is not for that one.
  useEffect(
    () => () => {
      running.current?.abort();
      onUploading(false);
    },
    [onUploading],
  );
  const format = template.header?.format ?? 'DOCUMENT';
  const kind = t(`headerFormat.${format}`);
  const patch = (changes: Values): void => onChange(before => ({ ...before, ...changes }));
  const upload = async (chosen: File): Promise<void> => {
    const { name } = chosen;
    running.current = new AbortController();
    const { signal } = running.current;
    setFile({ name, progress: 0 });
    onUploading(true);
    try {
      const mediaId = await client.upload(chosen, {
        filename: name,
        signal,
        onProgress: progress => {
          if (!signal.aborted) setFile({ name, progress: shareOf(progress) });
        },
      });
      if (signal.aborted) return;
      setFile({ name });
      patch({ 'header.mediaId': mediaId, 'header.link': '' });
    } catch (error) {
      if (!signal.aborted) setFile({ name, problem: faultText(uploadFault(error as Error)) });
    } finally {
      if (!signal.aborted) onUploading(false);
    }
  };
  const remove = (): void => {
    running.current?.abort();
    onUploading(false);
    setFile(undefined);
    patch({ 'header.mediaId': '' });
  };
  if (values['header.mediaId'] || file?.progress !== undefined)
    return (
      <p className="file-chosen">
        <Icon name="file" size={18} />{' '}
        <span className="ellipsis" dir="auto">
          {file?.name ?? t('template.uploaded')}
        </span>
        {file?.progress !== undefined && (
          <progress value={file.progress} aria-label={t('composer.uploading', { name: file.name })} />
        )}
        <button
          type="button"
          className="icon-button small"
          aria-label={t('composer.removeFile', { name: file?.name ?? kind })}
          onClick={remove}
        >
          <Icon name="close" size={16} />
        </button>
      </p>
    );
  return (
    <div className="form">
      <Field
        label={t('template.header', { name: kind })}
        placeholder="https://…"
        value={values['header.link'] ?? ''}
        onChange={link => patch({ 'header.link': link })}
        isRequired
      />
      <label className="button small upload-button">
        <Icon name="upload" size={16} /> {t('template.uploadFile')}
        <input
          type="file"
          className="visually-hidden"
          accept={isFileKind(format) ? FILE_TYPES[format] : undefined}
          onChange={event => {
            const chosen = event.target.files?.[0];
            if (chosen) void upload(chosen);
          }}
        />
      </label>
      {file?.problem && <p className="notice danger">{file.problem}</p>}
    </div>
  );
}

import { useState } from 'react';
import { useAccount } from '../session/account.tsx';
import '../styles/templates.css';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { FILE_TYPES, isFileKind } from './template-draft.ts';
import type { Template } from './use-templates.ts';

type Values = Readonly<Record<string, string>>;

interface Props {
  readonly template: Template;
  /** `header.mediaId` of an upload, or `header.link`. */
  readonly values: Values;
  readonly onChange: (change: (before: Values) => Values) => void;
}

/** The file of a template's header: uploaded once, or a link from which the network downloads it. */
export function HeaderFile({ template, values, onChange }: Props) {
  const { t } = useTexts();
  const { client } = useAccount();
  const [state, setState] = useState<{ readonly name: string; readonly problem?: string; readonly isDone?: boolean }>();
  const format = template.header?.format ?? 'DOCUMENT';
  const kind = t(`headerFormat.${format}`);
  const patch = (changes: Values): void => onChange(before => ({ ...before, ...changes }));
  const upload = async (file: File): Promise<void> => {
    setState({ name: file.name });
    try {
      const id = await client.upload(file, { filename: file.name });
      setState({ name: file.name, isDone: true });
      patch({ 'header.mediaId': id, 'header.link': '' });
    } catch (error) {
      setState({ name: file.name, problem: error instanceof Error ? error.message : String(error) });
    }
  };
  if (values['header.mediaId'])
    return (
      <p className="file-chosen">
        <Icon name="file" size={18} />{' '}
        <span className="ellipsis" dir="auto">
          {state?.name ?? t('template.uploaded')}
        </span>
        <button
          type="button"
          className="icon-button small"
          aria-label={t('composer.removeFile', { name: state?.name ?? kind })}
          onClick={() => patch({ 'header.mediaId': '' })}
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
            const file = event.target.files?.[0];
            if (file) void upload(file);
          }}
        />
      </label>
      {state && !state.isDone && !state.problem && (
        <p className="muted small">{t('composer.uploading', { name: state.name })}</p>
      )}
      {state?.problem && <p className="notice danger">{state.problem}</p>}
    </div>
  );
}

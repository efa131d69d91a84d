import { useAccount } from '../session/account.tsx';
import { uploadFault } from '../texts/faults.ts';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Select } from '../ui/select.tsx';
import { shareOf } from '../ui/upload-share.ts';
import {
  FILE_TYPES,
  HEADER_KINDS,
  type HeaderKind,
  isFileKind,
  type TemplateDraft,
  variablesOf,
} from './template-draft.ts';

interface Props {
  readonly draft: TemplateDraft;
  readonly onChange: (change: (before: TemplateDraft) => TemplateDraft) => void;
  readonly errorAt: (place: string) => string | undefined;
}

/** Nothing, a text, a place, or a file, of which the review gets an example. */
export function HeaderFields({ draft, onChange, errorAt }: Props) {
  const { t, faultText } = useTexts();
  const { can, client } = useAccount();
  const { headerKind, header, headerExample, file } = draft;
  const patch = (changes: Partial<TemplateDraft>): void => onChange(before => ({ ...before, ...changes }));
  const upload = (chosen: File): void => {
    const url = URL.createObjectURL(chosen);
    // Ignores the result for a file that was replaced meanwhile.
    const patchFile = (changes: Partial<NonNullable<TemplateDraft['file']>>): void =>
      onChange(before => (before.file?.url === url ? { ...before, file: { ...before.file, ...changes } } : before));
    patch({ file: { name: chosen.name, url, progress: 0, mediaId: undefined, problem: undefined } });
    client
      .upload(chosen, {
        filename: chosen.name,
        onProgress: progress => patchFile({ progress: shareOf(progress) }),
      })
      .then(
        mediaId => patchFile({ mediaId, progress: 1 }),
        (error: Error) => patchFile({ problem: faultText(uploadFault(error)) }),
      );
  };
  // An upload is made for messages.
  const kinds = HEADER_KINDS.filter(kind => !isFileKind(kind) || can('MESSAGES_SEND'));
  const fault = file?.problem ?? errorAt('HEADER.example') ?? errorAt('HEADER.example.media_id');
  return (
    <>
      <Select
        label={t('templates.header')}
        value={headerKind}
        error={errorAt('HEADER')}
        onChange={kind => patch({ headerKind: kind as HeaderKind, file: undefined })}
      >
        {kinds.map(kind => (
          <option key={kind} value={kind}>
            {t(kind === 'NONE' ? 'templates.noHeader' : `headerFormat.${kind}`)}
          </option>
        ))}
      </Select>
      {headerKind === 'TEXT' && (
        <Field
          label={t('templates.headerText')}
          value={header}
          onChange={text => patch({ header: text })}
          error={errorAt('HEADER.text')}
          hint={t('templates.headerHint')}
          isRequired
        />
      )}
      {headerKind === 'TEXT' && variablesOf(header).length > 0 && (
        <Field
          label={t('templates.headerExample')}
          value={headerExample}
          onChange={text => patch({ headerExample: text })}
          isRequired
        />
      )}
      {isFileKind(headerKind) && (
        <div className="field">
          <label className="file-choice">
            <span>{t('templates.exampleFile')}</span>
            <span className="button">
              <Icon name="upload" size={17} />
              <span className="ellipsis" dir="auto">
                {file?.name ?? t('templates.chooseFile')}
              </span>
            </span>
            <input
              type="file"
              className="visually-hidden"
              accept={FILE_TYPES[headerKind]}
              aria-invalid={fault !== undefined || undefined}
              onChange={event => {
                const [chosen] = event.target.files ?? [];
                if (chosen) upload(chosen);
                event.target.value = '';
              }}
            />
          </label>
          {file && file.mediaId === undefined && file.problem === undefined && (
            <progress value={file.progress} aria-label={t('composer.uploading', { name: file.name })} />
          )}
          <span className={fault === undefined ? 'muted small field-hint' : 'field-error'}>
            {fault ?? t('templates.exampleFileHint')}
          </span>
        </div>
      )}
    </>
  );
}

import { useRef } from 'react';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';

const MERGE_FIELDS = ['contact_first_name', 'contact_full_name', 'contact_company', 'contact_email'] as const;

export type ComposerDialog = 'template' | 'choice' | 'later';

interface Props {
  /** Whether only templates may be sent. */
  readonly isBlocked: boolean;
  readonly onFiles: (files: FileList) => void;
  readonly onDialog: (dialog: ComposerDialog) => void;
  /** Inserts text where the cursor is. */
  readonly onInsert: (text: string) => void;
}

/** Buttons for files, templates, interactive messages and merge fields. */
export function ComposerTools({ isBlocked, onFiles, onDialog, onInsert }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const file = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={file}
        type="file"
        multiple
        hidden
        aria-label={t('composer.attach')}
        onChange={event => {
          if (event.target.files) onFiles(event.target.files);
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
          onClick={() => onDialog('template')}
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
        onClick={() => onDialog('choice')}
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
          onSelect: () => onInsert(`@{${name}${name === 'contact_first_name' ? `|${t('merge.there')}` : ''}}`),
        }))}
      />
    </>
  );
}

import { useTexts } from '../texts/texts.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';

interface Props {
  readonly isNarrowed: boolean;
  readonly onImport: (() => void) | undefined;
}

/** Shown without contacts: how to create the first one. */
export function ContactsEmpty({ isNarrowed, onImport }: Props) {
  const { t } = useTexts();
  if (isNarrowed) return <Empty title={t('contacts.noMatch')} />;
  return (
    <Empty
      title={t('contacts.noneTitle')}
      text={t('contacts.none')}
      action={
        onImport && (
          <button type="button" className="button" onClick={onImport}>
            <Icon name="upload" size={17} /> {t('import.open')}
          </button>
        )
      }
      example="contact"
    />
  );
}

import { LANGUAGES, type Language, useTexts } from '../texts/texts.tsx';
import { Menu } from '../ui/menu.tsx';

export function LanguageMenu() {
  const { t, language, setLanguage } = useTexts();
  return (
    <Menu
      label={t('language')}
      text={LANGUAGES[language].name}
      button={<span>{LANGUAGES[language].name}</span>}
      buttonClass="button quiet"
      isUp
      items={(Object.keys(LANGUAGES) as Language[]).map(code => ({
        id: code,
        label: <span lang={code}>{LANGUAGES[code].name}</span>,
        isChecked: code === language,
        onSelect: () => setLanguage(code),
      }))}
    />
  );
}

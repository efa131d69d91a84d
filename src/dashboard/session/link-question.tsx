import { LanguageMenu } from '../layout/language-menu.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Logo } from '../ui/logo.tsx';
import type { AccountChange } from './session.ts';

interface Props {
  readonly change: AccountChange;
  readonly onAccept: () => void;
  readonly onRefuse: () => void;
}

/** Asks before a sign-in link replaces the session of another account. */
export function LinkQuestion({ change, onAccept, onRefuse }: Props) {
  const { t } = useTexts();
  return (
    <main className="sign-in">
      <div className="card sign-in-card">
        <Logo />
        <h1>{t('signIn.change')}</h1>
        <p>{t('signIn.changeText', { next: change.next, present: change.present })}</p>
        <button type="button" className="button primary" onClick={onRefuse}>
          {t('signIn.stay', { name: change.present })}
        </button>
        <button type="button" className="button" onClick={onAccept}>
          {t('signIn.accept', { name: change.next })}
        </button>
      </div>
      <LanguageMenu />
    </main>
  );
}

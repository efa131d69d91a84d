import { type FormEvent, useState } from 'react';
import { LanguageMenu } from '../layout/language-menu.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Logo } from '../ui/logo.tsx';

interface Props {
  readonly problem?: string;
  readonly onToken: (token: string) => void;
}

/** Signs in with an access token, which stays in this browser. */
export function SignIn({ problem, onToken }: Props) {
  const { t } = useTexts();
  const [token, setToken] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (token.trim() !== '') onToken(token.trim());
  };
  return (
    <main className="sign-in">
      <form className="card sign-in-card" onSubmit={submit}>
        <Logo />
        <h1>{t('signIn.title')}</h1>
        <p className="muted">{t('signIn.hint')}</p>
        <label className="field">
          <span>{t('signIn.token')}</span>
          <input
            type="password"
            name="token"
            autoComplete="off"
            spellCheck={false}
            placeholder="ply_…"
            value={token}
            onChange={event => setToken(event.target.value)}
          />
        </label>
        {problem !== undefined && (
          <p className="field-error" role="alert">
            {problem}
          </p>
        )}
        <button className="button primary" type="submit">
          {t('signIn.submit')}
        </button>
        <p className="muted small">
          {t('signIn.create')} <code>parley token create --tenant … --scopes '*'</code>
        </p>
      </form>
      <LanguageMenu />
    </main>
  );
}

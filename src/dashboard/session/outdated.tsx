import { useTexts } from '../texts/texts.tsx';

/** Shown over the page when the gateway has another version. It does not reload itself: a text or an upload may be in progress. */
export function Outdated() {
  const { t } = useTexts();
  return (
    <div className="connection-lost outdated" role="alert">
      <p>{t('outdated')}</p>
      <button type="button" className="button small" onClick={() => location.reload()}>
        {t('loadAgain')}
      </button>
    </div>
  );
}

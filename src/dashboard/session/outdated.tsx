import { useTexts } from '../texts/texts.tsx';

/** Over the page, once the gateway has another version than it. Nothing is loaded unasked: something may be being written or uploaded. */
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

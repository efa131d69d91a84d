import { useTexts } from '../texts/texts.tsx';
import type { Pages } from './use-pages.ts';

/** Below a list that has more than it shows. */
export function MoreButton({ pages: { more, isBusy } }: { readonly pages: Pages<unknown> }) {
  const { t } = useTexts();
  if (!more) return null;
  return (
    <button type="button" className="button" disabled={isBusy} onClick={more}>
      {t('more')}
    </button>
  );
}

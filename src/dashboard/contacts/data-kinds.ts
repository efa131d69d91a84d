import { isTextKey, useTexts } from '../texts/texts.tsx';

/** Names kinds of data of erasure receipts and merges, such as `consent_entry`. The API may have kinds that are newer than this page. */
export function useDataKinds(): (kind: string) => string {
  const { t } = useTexts();
  return kind => {
    const key = `dataKind.${kind}`;
    return t(isTextKey(key) ? key : 'dataKind.other');
  };
}

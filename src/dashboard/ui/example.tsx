import { useState } from 'react';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from './icon.tsx';

/** A command that works as it stands, to copy. */
export function Example({ text }: { readonly text: string }) {
  const { t } = useTexts();
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard?.writeText(text).then(() => setCopied(true));
  };
  return (
    <div className="example" dir="ltr">
      <button type="button" className="button small" onClick={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} size={15} /> {isCopied ? t('copied') : t('copy')}
      </button>
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}

import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from './icon.tsx';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly isWide?: boolean;
}

/** A modal dialog of the browser: it keeps the focus, and Escape closes it. */
export function Dialog({ title, onClose, children, isWide = false }: Props) {
  const { t } = useTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  return (
    <dialog ref={dialog} className={isWide ? 'dialog wide' : 'dialog'} aria-labelledby={id} onClose={onClose}>
      <header className="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" className="icon-button" aria-label={t('close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}

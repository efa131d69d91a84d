import { type ReactNode, useEffect, useId, useRef } from 'react';
import { createPortal } from 'react-dom';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from './icon.tsx';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly isWide?: boolean;
}

/**
 * A modal dialog of the browser: it traps the focus, returns it to the element that opened it, and closes with Escape. It is rendered at
 * the end of the page, and its forms submit for themselves: opened within a form, it would otherwise submit that form too.
 */
export function Dialog({ title, onClose, children, isWide = false }: Props) {
  const { t } = useTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (!element || element.open) return;
    const opener = document.activeElement;
    element.showModal();
    // Unlike a dialog that is closed, one that is removed does not return the focus.
    return () => {
      if (opener instanceof HTMLElement && document.activeElement === document.body) opener.focus();
    };
  }, []);
  return createPortal(
    <dialog
      ref={dialog}
      className={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onClose={onClose}
      onSubmit={event => event.stopPropagation()}
    >
      <header className="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" className="icon-button" aria-label={t('close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>,
    document.body,
  );
}

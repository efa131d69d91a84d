import { type ReactNode, useState } from 'react';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from './dialog.tsx';

interface Props {
  readonly className: string;
  /** The name of a button that shows an icon alone. */
  readonly label?: string;
  /** Question of the dialog, with the name of the object. */
  readonly question: string;
  /** Consequence: what is irreversible, or what remains. */
  readonly consequence: string;
  /** Text of the button that confirms. */
  readonly action: string;
  /** Performs the action, and reports its errors itself. */
  readonly onConfirm: () => Promise<unknown>;
  readonly children: ReactNode;
}

/** A button whose effect cannot be taken back: asks first. */
export function ConfirmButton({ className, label, question, consequence, action, onConfirm, children }: Props) {
  const { t } = useTexts();
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    await onConfirm();
    setBusy(false);
    setAsking(false);
  };
  return (
    <>
      <button type="button" className={className} aria-label={label} onClick={() => setAsking(true)}>
        {children}
      </button>
      {isAsking && (
        <Dialog title={question} onClose={() => setAsking(false)}>
          <div className="form">
            <p>{consequence}</p>
            <div className="dialog-foot">
              <button type="button" className="button" onClick={() => setAsking(false)}>
                {t('cancel')}
              </button>
              <button type="button" className="button danger" disabled={isBusy} onClick={() => void confirm()}>
                {action}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}

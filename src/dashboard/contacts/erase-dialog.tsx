import { useMutation } from 'urql';
import { EraseContactDocument } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { isTextKey, useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { useDataKinds } from './data-kinds.ts';

interface Props {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
  readonly onErased: () => void;
}

/** Erases a person, and shows the receipt, which has no personal data and can be saved. */
export function EraseDialog({ id, name, onClose, onErased }: Props) {
  const { t } = useTexts();
  const dates = useDates();
  const nameOf = useDataKinds();
  const [{ data, error, fetching }, erase] = useMutation(EraseContactDocument);
  const receipt = data?.eraseContact?.erasureReceipt;
  const save = async (): Promise<void> => {
    const { saveFile } = await import('../csv/csv-file.ts');
    saveFile(
      `erasure-${receipt?.subjectDigest.slice(0, 12)}.json`,
      JSON.stringify(receipt, undefined, 2),
      'application/json',
    );
  };
  return (
    <Dialog
      title={receipt ? t('contacts.receipt') : t('contacts.eraseTitle', { name })}
      onClose={receipt ? onErased : onClose}
    >
      {receipt ? (
        <div className="form">
          <p className="notice good">{t('contacts.erased')}</p>
          <dl className="pairs">
            <div>
              <dt>{t('contacts.erasedAt')}</dt>
              <dd>{dates.full(receipt.requestedAt)}</dd>
            </div>
            {receipt.erased.map(({ kind, count }) => (
              <div key={kind}>
                <dt>{nameOf(kind)}</dt>
                <dd>{count}</dd>
              </div>
            ))}
            {receipt.retained.map(({ kind, count, reason }) => (
              <div key={kind}>
                <dt>
                  {t('contacts.retained', { kind: nameOf(kind) })}
                  <Reason kind={kind} reason={reason} />
                </dt>
                <dd>{count}</dd>
              </div>
            ))}
          </dl>
          <div>
            <p className="muted small">{t('contacts.digest')}</p>
            <code className="digest">{receipt.subjectDigest}</code>
          </div>
          {!receipt.completedAt && <p className="muted small">{t('contacts.erasing')}</p>}
          <div className="dialog-foot">
            <button type="button" className="button" onClick={() => void save()}>
              <Icon name="download" size={17} /> {t('contacts.saveReceipt')}
            </button>
            <button type="button" className="button primary" onClick={onErased}>
              {t('done')}
            </button>
          </div>
        </div>
      ) : (
        <div className="form">
          <p>{t('contacts.eraseText')}</p>
          <UserErrors errors={data?.eraseContact?.userErrors ?? []} failure={error} />
          <div className="dialog-foot">
            <button type="button" className="button" onClick={onClose}>
              {t('cancel')}
            </button>
            <button
              type="button"
              className="button danger"
              disabled={fetching}
              onClick={() => void erase({ input: { id, reason: 'SUBJECT_REQUEST' } })}
            >
              {t('contacts.erase')}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

/** Why data is kept, in the language of the page. The receipt is in English, and is signed, so it is not translated. */
function Reason({ kind, reason }: { readonly kind: string; readonly reason: string | null }) {
  const { t } = useTexts();
  const key = `retained.${kind}`;
  const text = isTextKey(key) ? t(key) : reason;
  return text && <span className="muted small"> {text}</span>;
}

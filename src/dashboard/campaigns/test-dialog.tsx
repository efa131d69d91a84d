import { type FormEvent, useState } from 'react';
import { useMutation } from 'urql';
import { TestCampaignDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';

/** The number of the last test, for the next one. */
const KEY = 'parley.testPhone';

/** Sends the message of a campaign to one number, such as one's own. */
export function TestDialog({ campaignId, onClose }: { readonly campaignId: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const [phone, setPhone] = useState(() => localStorage.getItem(KEY) ?? '');
  const [{ data, error, fetching }, test] = useMutation(TestCampaignDocument);
  const errors = data?.testCampaign?.userErrors ?? [];
  const isSent = Boolean(data?.testCampaign?.message) && !fetching;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    localStorage.setItem(KEY, phone);
    void test({ input: { id: campaignId, phone } });
  };
  return (
    <Dialog title={t('campaigns.test')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p className="muted">{t('campaigns.testText')}</p>
        <Field
          label={t('field.phone')}
          placeholder="+14155550123"
          value={phone}
          error={errorsOf(errors, 'phone')}
          onChange={setPhone}
          isRequired
        />
        <div aria-live="polite">{isSent && <p className="notice good">{t('campaigns.testSent', { phone })}</p>}</div>
        <UserErrors errors={errors.filter(({ path }) => path?.[0] !== 'phone')} failure={error} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('close')}
          </button>
          <button type="submit" className="button primary" disabled={fetching}>
            {t('campaigns.testSend')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

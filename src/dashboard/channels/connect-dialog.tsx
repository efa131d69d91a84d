import { useState } from 'react';
import { useMutation } from 'urql';
import { ConnectChannelDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Example } from '../ui/example.tsx';
import { Field } from '../ui/field.tsx';
import { atFields, FormDialog } from '../ui/form-dialog.tsx';
import { errorsOf } from '../ui/user-errors.tsx';

const FIELDS = ['name', 'phoneNumberId', 'wabaId', 'accessToken', 'appSecret', 'verifyToken'] as const;
const SECRETS: ReadonlySet<string> = new Set(['accessToken', 'appSecret']);

/** Connects a business number, or replaces the credentials of a connected one; then shows the webhook URL for the network. */
export function ConnectDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, connect] = useMutation(ConnectChannelDocument);
  const [values, setValues] = useState<Record<(typeof FIELDS)[number], string>>({
    name: '',
    phoneNumberId: '',
    wabaId: '',
    accessToken: '',
    appSecret: '',
    verifyToken: '',
  });
  const errors = data?.connectChannel?.userErrors ?? [];
  const channel = data?.connectChannel?.channel;
  return (
    <FormDialog
      title={t('channels.connect')}
      action={t('channels.connectSubmit')}
      onClose={onClose}
      onSubmit={() => connect({ input: values })}
      isBusy={fetching}
      errors={errors}
      isShown={atFields(...FIELDS)}
      failure={error}
      done={
        channel && (
          <>
            <p className="notice good">{t('channels.connected', { number: channel.displayPhoneNumber })}</p>
            <p>{t('channels.webhookHint')}</p>
            <Example text={`${location.origin}/network/cloud-api/webhook`} />
            <div className="dialog-foot">
              <button type="button" className="button primary" onClick={onClose}>
                {t('done')}
              </button>
            </div>
          </>
        )
      }
    >
      <p className="muted small">{t('channels.connectHint')}</p>
      {FIELDS.map(name => (
        <Field
          key={name}
          label={t(`channels.field.${name}`)}
          value={values[name]}
          onChange={value => setValues({ ...values, [name]: value })}
          error={errorsOf(errors, name)}
          hint={t(`channels.hint.${name}`)}
          isSecret={SECRETS.has(name)}
          isRequired
        />
      ))}
    </FormDialog>
  );
}

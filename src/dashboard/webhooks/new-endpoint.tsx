import { type FormEvent, useState } from 'react';
import { useMutation } from 'urql';
import { CreateWebhookEndpointDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Example } from '../ui/example.tsx';
import { Field } from '../ui/field.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';

export function NewEndpoint({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateWebhookEndpointDocument);
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState('message.*');
  const payload = data?.createWebhookEndpoint;
  const errors = payload?.userErrors ?? [];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void create({ input: { url, events: events.split(/[\s,]+/).filter(Boolean) } });
  };
  return (
    <Dialog title={t('webhooks.new')} onClose={onClose}>
      {payload?.secret ? (
        <div className="form">
          <p className="notice good">{t('webhooks.secret')}</p>
          <Example text={payload.secret} />
        </div>
      ) : (
        <form className="form" onSubmit={submit}>
          <Field
            label="URL"
            value={url}
            onChange={setUrl}
            error={errorsOf(errors, 'url')}
            placeholder="https://example.com/hook"
            isRequired
          />
          <Field
            label={t('webhooks.events')}
            value={events}
            onChange={setEvents}
            error={errorsOf(errors, 'events')}
            hint={t('webhooks.eventsHint')}
            isRequired
          />
          <UserErrors
            errors={errors.filter(({ path }) => !['url', 'events'].includes(path?.[0] ?? ''))}
            failure={error}
          />
          <div className="dialog-foot">
            <button type="button" className="button" onClick={onClose}>
              {t('cancel')}
            </button>
            <button type="submit" className="button primary" disabled={fetching}>
              {t('save')}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

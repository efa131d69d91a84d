import { useState } from 'react';
import { useMutation } from 'urql';
import { CreateWebhookEndpointDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Example } from '../ui/example.tsx';
import { Field } from '../ui/field.tsx';
import { atFields, FormDialog } from '../ui/form-dialog.tsx';
import { errorsOf } from '../ui/user-errors.tsx';

/** Adds an endpoint; its secret is shown once. */
export function NewEndpoint({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateWebhookEndpointDocument);
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState('message.*');
  const payload = data?.createWebhookEndpoint;
  const errors = payload?.userErrors ?? [];
  return (
    <FormDialog
      title={t('webhooks.new')}
      onClose={onClose}
      onSubmit={() => create({ input: { url, events: events.split(/[\s,]+/).filter(Boolean) } })}
      isBusy={fetching}
      errors={errors}
      isShown={atFields('url', 'events')}
      failure={error}
      done={
        payload?.secret && (
          <>
            <p className="notice good">{t('webhooks.secret')}</p>
            <Example text={payload.secret} />
          </>
        )
      }
    >
      <Field
        label={t('webhooks.url')}
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
    </FormDialog>
  );
}

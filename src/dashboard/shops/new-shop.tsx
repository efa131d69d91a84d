import { useState } from 'react';
import { useMutation } from 'urql';
import { CreateShopDocument, type IntegrationKind } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Example } from '../ui/example.tsx';
import { Field } from '../ui/field.tsx';
import { atFields, FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { errorsOf } from '../ui/user-errors.tsx';

const KINDS = ['WOOCOMMERCE', 'SHOPIFY', 'GENERIC'] as const satisfies readonly IntegrationKind[];

/** Connects a shop: its address and secret are shown once. */
export function NewShop({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateShopDocument);
  const [name, setName] = useState('');
  const [kind, setKind] = useState<IntegrationKind>('WOOCOMMERCE');
  const { integration, secret, userErrors = [] } = data?.createIntegration ?? {};
  return (
    <FormDialog
      title={t('shops.new')}
      onClose={onClose}
      onSubmit={() => create({ input: { name, kind } })}
      isBusy={fetching}
      errors={userErrors}
      isShown={atFields('name', 'kind')}
      failure={error}
      done={
        integration && (
          <>
            <p className="notice good">{t('shops.created')}</p>
            <Example text={location.origin + integration.path} />
            {secret && <Example text={secret} />}
          </>
        )
      }
    >
      <Field label={t('name')} value={name} onChange={setName} error={errorsOf(userErrors, 'name')} isRequired />
      <Select
        label={t('shops.kind')}
        value={kind}
        onChange={value => setKind(value as IntegrationKind)}
        error={errorsOf(userErrors, 'kind')}
      >
        {KINDS.map(each => (
          <option key={each} value={each}>
            {t(`shopKind.${each}`)}
          </option>
        ))}
      </Select>
    </FormDialog>
  );
}

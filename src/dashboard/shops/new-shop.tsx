import { type FormEvent, useState } from 'react';
import { useMutation } from 'urql';
import { CreateShopDocument, type IntegrationKind } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Example } from '../ui/example.tsx';
import { Field } from '../ui/field.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';

const KINDS = ['WOOCOMMERCE', 'SHOPIFY', 'GENERIC'] as const satisfies readonly IntegrationKind[];

/** Connects a shop: its address and secret are shown once. */
export function NewShop({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateShopDocument);
  const [name, setName] = useState('');
  const [kind, setKind] = useState<IntegrationKind>('WOOCOMMERCE');
  const { integration, secret, userErrors = [] } = data?.createIntegration ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void create({ input: { name, kind } });
  };
  return (
    <Dialog title={t('shops.new')} onClose={onClose}>
      {integration ? (
        <div className="form">
          <p className="notice good">{t('shops.created')}</p>
          <Example text={location.origin + integration.path} />
          {secret && <Example text={secret} />}
        </div>
      ) : (
        <form className="form" onSubmit={submit}>
          <Field label={t('name')} value={name} onChange={setName} error={errorsOf(userErrors, 'name')} isRequired />
          <label className="field">
            <span>{t('shops.kind')}</span>
            <select value={kind} onChange={event => setKind(event.target.value as IntegrationKind)}>
              {KINDS.map(each => (
                <option key={each} value={each}>
                  {t(`shopKind.${each}`)}
                </option>
              ))}
            </select>
          </label>
          <UserErrors errors={userErrors.filter(({ path }) => path?.[0] !== 'name')} failure={error} />
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

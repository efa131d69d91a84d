import { useState } from 'react';
import { useMutation } from 'urql';
import {
  AccessTokensDocument,
  type AccessTokensQuery,
  CreateAccessTokenDocument,
  RevokeAccessTokenDocument,
  type Scope,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Example } from '../ui/example.tsx';
import { Field } from '../ui/field.tsx';
import { atFields, FormDialog } from '../ui/form-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { TableBox } from '../ui/table-box.tsx';
import { useAll } from '../ui/use-all.ts';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';

const tokensOf = ({ accessTokens }: AccessTokensQuery) => accessTokens;

/** The tokens of programs and browsers. */
export default function Tokens() {
  const { t } = useTexts();
  const { can, viewer } = useAccount();
  const dates = useDates();
  const { rows, reload, error } = useAll({ query: AccessTokensDocument, connectionOf: tokensOf, isFresh: true });
  const [revoked, revoke] = useMutation(RevokeAccessTokenDocument);
  const [isNew, setNew] = useState(false);
  const tokens = (rows ?? []).filter(({ revokedAt }) => revokedAt === null);
  return (
    <Page
      title={t('nav.tokens')}
      lead={t('tokens.lead')}
      actions={
        can('TOKENS_WRITE') && (
          <button type="button" className="button primary" onClick={() => setNew(true)}>
            <Icon name="plus" size={17} /> {t('tokens.new')}
          </button>
        )
      }
    >
      <UserErrors errors={revoked.data?.revokeAccessToken?.userErrors ?? []} failure={revoked.error ?? error} />
      <TableBox label={t('nav.tokens')}>
        <table>
          <thead>
            <tr>
              <th>{t('name')}</th>
              <th>{t('tokens.scopes')}</th>
              <th>{t('tokens.lastUsed')}</th>
              <th>{t('tokens.expires')}</th>
              <th>
                <span className="visually-hidden">{t('actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tokens.map(({ id, name, hint, scopes, lastUsedAt, expiresAt }) => (
              <tr key={id}>
                <td>
                  <strong>{name}</strong> <code className="muted">…{hint}</code>
                  {id === viewer.token.id && <span className="chip info">{t('tokens.this')}</span>}
                </td>
                <td className="muted small">
                  {scopes.length > 3 ? (
                    <details>
                      <summary>{t('tokens.scopeCount', { count: scopes.length })}</summary>
                      <code>{scopes.join(', ')}</code>
                    </details>
                  ) : (
                    <code>{scopes.join(', ')}</code>
                  )}
                </td>
                <td className="muted small">{lastUsedAt ? dates.full(lastUsedAt) : t('never')}</td>
                <td className="muted small">{expiresAt ? dates.full(expiresAt) : t('never')}</td>
                <td className="cell-actions">
                  {can('TOKENS_WRITE') && id !== viewer.token.id && (
                    <ConfirmButton
                      className="button small"
                      label={t('tokens.revokeOf', { name })}
                      question={t('tokens.revokeTitle', { name })}
                      consequence={t('tokens.revokeText')}
                      action={t('tokens.revoke')}
                      onConfirm={() => revoke({ input: { id } }).then(reload)}
                    >
                      {t('tokens.revoke')}
                    </ConfirmButton>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
      {isNew && (
        <NewToken
          scopes={viewer.scopes}
          onClose={() => {
            setNew(false);
            reload();
          }}
        />
      )}
    </Page>
  );
}

function NewToken({ scopes, onClose }: { readonly scopes: readonly Scope[]; readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateAccessTokenDocument);
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(['CONTACTS_READ', 'MESSAGES_READ', 'MESSAGES_SEND']);
  const errors = data?.createAccessToken?.userErrors ?? [];
  const token = data?.createAccessToken?.token;
  return (
    <FormDialog
      title={t('tokens.new')}
      onClose={onClose}
      isWide
      onSubmit={() => create({ input: { name, scopes: chosen, callsPerMinute: 60 } })}
      isBusy={fetching || chosen.length === 0}
      errors={errors}
      isShown={atFields('name')}
      failure={error}
      done={
        token && (
          <>
            <p className="notice good">{t('tokens.once')}</p>
            <Example text={token} />
            <Example text={`curl ${location.origin}/api/v2/contacts -H "Authorization: Bearer ${token}"`} />
          </>
        )
      }
    >
      <Field label={t('name')} value={name} onChange={setName} error={errorsOf(errors, 'name')} isRequired />
      <fieldset className="checks" aria-label={t('tokens.scopes')}>
        {scopes.map(scope => (
          <label key={scope} className="toggle">
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              onChange={event =>
                setChosen(event.target.checked ? [...chosen, scope] : chosen.filter(each => each !== scope))
              }
            />
            <code>{scope}</code>
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}

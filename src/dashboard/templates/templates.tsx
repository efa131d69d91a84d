import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  DeleteTemplateDocument,
  SyncTemplatesDocument,
  type TemplateStatus,
  TemplatesDocument,
} from '../documents.generated.ts';
import { WhatsAppText } from '../inbox/whatsapp-text.tsx';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { NewTemplate } from './new-template.tsx';

const TONES: Partial<Record<TemplateStatus, string>> = {
  APPROVED: 'good',
  REINSTATED: 'good',
  PENDING: 'warning',
  IN_APPEAL: 'warning',
  PAUSED: 'warning',
  FLAGGED: 'warning',
  REJECTED: 'danger',
  DISABLED: 'danger',
};

/** Templates as their recipients see them, with their review. */
export default function Templates() {
  const { t } = useTexts();
  const { can } = useAccount();
  const [{ data, fetching }, refetch] = useQuery({
    query: TemplatesDocument,
    variables: {},
    requestPolicy: 'cache-and-network',
  });
  const [synced, sync] = useMutation(SyncTemplatesDocument);
  const [removed, remove] = useMutation(DeleteTemplateDocument);
  const [isNew, setNew] = useState(false);
  const reload = (): void => refetch({ requestPolicy: 'network-only' });
  const templates = data?.templates?.nodes ?? [];
  return (
    <Page
      title={t('nav.templates')}
      lead={t('templates.lead')}
      actions={
        <>
          {can('TEMPLATES_SYNC') && (
            <button
              type="button"
              className="button"
              disabled={synced.fetching}
              onClick={() => void sync({ input: {} }).then(reload)}
            >
              <Icon name="replay" size={17} /> {t('templates.sync')}
            </button>
          )}
          {can('TEMPLATES_WRITE') && (
            <button type="button" className="button primary" onClick={() => setNew(true)}>
              <Icon name="plus" size={17} /> {t('templates.new')}
            </button>
          )}
        </>
      }
    >
      <UserErrors
        errors={[
          ...(synced.data?.syncTemplates?.userErrors ?? []),
          ...(removed.data?.deleteTemplate?.userErrors ?? []),
        ]}
        failure={synced.error ?? removed.error}
      />
      {templates.length === 0 && !fetching && (
        <Empty title={t('templates.noneTitle')} text={t('templates.none')} example="template" />
      )}
      <ul className="cards-grid">
        {templates.map(({ id, name, language, category, status, statusReason, header, body, footer, buttons }) => (
          <li key={id} className="card template-card">
            <header>
              <div className="template-name">
                <h2 className="ellipsis">{name}</h2>
                <p className="muted small">
                  {language} · {t(`category.${category}`)}
                </p>
              </div>
              <span className={`chip ${TONES[status] ?? ''}`}>{t(`templateStatus.${status}`)}</span>
            </header>
            <div className="preview">
              <div className="bubble ours">
                {header && <p className="template-header">{header.text ?? t(`headerFormat.${header.format}`)}</p>}
                {body?.text && <WhatsAppText text={body.text} />}
                {footer?.text && <p className="template-footer">{footer.text}</p>}
                <div className="template-buttons">
                  {buttons.map(button => (
                    <span key={button.index}>{button.text}</span>
                  ))}
                </div>
              </div>
            </div>
            {statusReason && <p className="small muted">{statusReason}</p>}
            {can('TEMPLATES_WRITE') && (
              <button
                type="button"
                className="button small"
                onClick={() => void remove({ input: { id } }).then(reload)}
              >
                <Icon name="trash" size={15} /> {t('delete')}
              </button>
            )}
          </li>
        ))}
      </ul>
      {isNew && (
        <NewTemplate
          onClose={() => {
            setNew(false);
            reload();
          }}
        />
      )}
    </Page>
  );
}

import { useDeferredValue, useState } from 'react';
import { useMutation } from 'urql';
import { useSearchParams } from 'wouter';
import {
  DeleteTemplateDocument,
  SyncTemplatesDocument,
  type TemplateStatus,
  TemplatesDocument,
  type TemplatesQuery,
} from '../documents.generated.ts';
import { RenderedTemplate, type TemplateView } from '../inbox/rendered-template.tsx';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Page } from '../ui/page.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { usePages } from '../ui/use-pages.ts';
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

type TemplateRow = NonNullable<TemplatesQuery['templates']>['nodes'][number];

const viewOf = ({ header, body, footer, buttons }: TemplateRow): TemplateView => ({
  header: header && { ...header, link: null, filename: null },
  body: body?.text ?? null,
  footer: footer?.text ?? null,
  buttons,
});

/** Templates as their recipients see them, with their review. */
export default function Templates() {
  const { t } = useTexts();
  const { can } = useAccount();
  const [params, setParams] = useSearchParams();
  const text = params.get('q') ?? '';
  const search = useDeferredValue(text) || undefined;
  const pages = usePages({
    query: TemplatesDocument,
    variables: { search },
    pageInfoOf: ({ templates }) => templates?.pageInfo,
  });
  const { data, isBusy, reload } = pages;
  const [synced, sync] = useMutation(SyncTemplatesDocument);
  const [removed, remove] = useMutation(DeleteTemplateDocument);
  const [isNew, setNew] = useState(false);
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
        failure={synced.error ?? removed.error ?? pages.error}
      />
      {(templates.length > 0 || text !== '') && (
        <div className="toolbar">
          <SearchField
            label={t('templates.search')}
            value={text}
            onChange={value => setParams(value === '' ? {} : { q: value }, { replace: true })}
          />
        </div>
      )}
      {data && templates.length === 0 && !isBusy && text !== '' && <Empty title={t('templates.noMatch')} />}
      {data && templates.length === 0 && !isBusy && text === '' && (
        <Empty title={t('templates.noneTitle')} text={t('templates.none')} example="template" />
      )}
      <ul className="cards-grid">
        {templates.map(template => {
          const { id, name, language, category, status, statusReason } = template;
          return (
            <li key={id} className="card template-card">
              <header>
                <div className="template-name">
                  <h2 className="ellipsis" dir="auto">
                    {name}
                  </h2>
                  <p className="muted small">
                    <bdi>{language}</bdi> · {t(`category.${category}`)}
                  </p>
                </div>
                <span className={`chip ${TONES[status] ?? ''}`}>{t(`templateStatus.${status}`)}</span>
              </header>
              <div className="preview">
                <div className="bubble ours">
                  <RenderedTemplate rendered={viewOf(template)} />
                </div>
              </div>
              {statusReason && <p className="small muted">{statusReason}</p>}
              {can('TEMPLATES_WRITE') && (
                <ConfirmButton
                  className="button small"
                  question={t('deleteTitle', { name })}
                  consequence={t('templates.deleteText')}
                  action={t('delete')}
                  onConfirm={() => remove({ input: { id } }).then(reload)}
                >
                  <Icon name="trash" size={15} /> {t('delete')}
                </ConfirmButton>
              )}
            </li>
          );
        })}
      </ul>
      <MoreButton pages={pages} />
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

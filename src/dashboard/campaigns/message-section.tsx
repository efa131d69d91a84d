import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { PreviewTemplateDocument } from '../documents.generated.ts';
import { RenderedTemplate } from '../inbox/rendered-template.tsx';
import { fieldsOf, type TemplateField, templateInputOf } from '../inbox/template-values.ts';
import { useAccount } from '../session/account.tsx';
import type { Template } from '../templates/use-templates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Select } from '../ui/select.tsx';
import { type UserError, UserErrors } from '../ui/user-errors.tsx';
import type { CampaignDraft } from './campaign-draft.ts';

const MERGE_FIELDS = ['contact_first_name', 'contact_full_name', 'contact_company', 'contact_email'] as const;

interface Props {
  readonly draft: CampaignDraft;
  readonly templates: readonly Template[];
  /** Where there are more templates than one answer has. */
  readonly search: { readonly value: string; readonly onChange: (value: string) => void } | undefined;
  readonly errors: readonly UserError[];
  readonly onChange: (changes: Partial<CampaignDraft>) => void;
  readonly onTemplate: (template: Template | undefined) => void;
}

/** The template and its values: texts, fields of the contact, or columns of the uploaded list, with the message beside them. */
export function MessageSection({ draft, templates, search, errors, onChange, onTemplate }: Props) {
  const { t } = useTexts();
  const template = templates.find(({ id }) => id === draft.templateId);
  const templateErrors = errors.filter(({ path }) => path?.[0] === 'template');
  const fields = template ? fieldsOf(template) : [];
  const columns = draft.kind === 'list' ? (draft.list?.columns ?? []) : [];
  const set = (key: string, value: string): void => onChange({ values: { ...draft.values, [key]: value } });
  return (
    <section className="card">
      <h2>{t('campaigns.message')}</h2>
      {templates.length === 0 && !search && <p className="notice">{t('template.none')}</p>}
      <div className="form-and-preview">
        <div className="form">
          {search && <SearchField label={t('templates.search')} {...search} />}
          <Select
            label={t('campaigns.template')}
            value={draft.templateId ?? ''}
            error={
              templateErrors
                .filter(({ path }) => path?.length === 1)
                .map(({ message }) => message)
                .join(' ') || undefined
            }
            onChange={chosenId => onTemplate(templates.find(({ id }) => id === chosenId))}
          >
            <option value="">{t('choose')}</option>
            {templates.map(({ id, name, language, category }) => (
              <option key={id} value={id}>
                {name} · {language} · {t(`category.${category}`)}
              </option>
            ))}
          </Select>
          {template && fields.length === 0 && <p className="muted">{t('template.noFields')}</p>}
          {fields.map(field =>
            field.key === 'header.link' ? (
              <HeaderFile key={field.key} field={field} values={draft.values} onChange={onChange} />
            ) : (
              <ValueField
                key={field.key}
                field={field}
                columns={columns}
                value={draft.values[field.key] ?? ''}
                onChange={value => set(field.key, value)}
              />
            ),
          )}
          <UserErrors errors={templateErrors.filter(({ path }) => (path?.length ?? 0) > 1)} />
        </div>
        {template && <MessagePreview template={template} values={draft.values} />}
      </div>
    </section>
  );
}

interface ValueProps {
  readonly field: TemplateField;
  readonly columns: readonly string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** One value of the template, into which a field of the contact or a column of the list is put where the caret is. */
function ValueField({ field: { part, name, example }, columns, value, onChange }: ValueProps) {
  const { t } = useTexts();
  const box = useRef<HTMLDivElement>(null);
  const insert = (mergeField: string): void => {
    const input = box.current?.querySelector('input');
    const start = input?.selectionStart ?? value.length;
    const end = input?.selectionEnd ?? value.length;
    onChange(`${value.slice(0, start)}@{${mergeField}}${value.slice(end)}`);
    requestAnimationFrame(() => input?.focus());
  };
  return (
    <div className="value-field" ref={box}>
      <Field
        label={t(`template.${part}`, { name })}
        value={value}
        placeholder={example}
        onChange={onChange}
        hint={t('campaigns.valueHint')}
      />
      <Menu
        label={t('composer.mergeField')}
        buttonClass="button"
        button={<span aria-hidden="true">{'{ }'}</span>}
        items={[
          ...MERGE_FIELDS.map(each => ({
            id: each,
            label: t(`merge.${each}`),
            onSelect: () => insert(`${each}|${each === 'contact_first_name' ? t('merge.there') : '–'}`),
          })),
          ...columns.map((column, index) => ({
            id: `column ${column}`,
            label: t('campaigns.column', { name: column }),
            beginsGroup: index === 0,
            onSelect: () => insert(`column.${column}|–`),
          })),
        ]}
      />
    </div>
  );
}

interface FileProps {
  readonly field: TemplateField;
  readonly values: CampaignDraft['values'];
  readonly onChange: Props['onChange'];
}

/** The file of the header: uploaded once, or a link from which the network downloads it. */
function HeaderFile({ field: { name }, values, onChange }: FileProps) {
  const { t } = useTexts();
  const { client } = useAccount();
  const [state, setState] = useState<{ readonly name: string; readonly problem?: string; readonly isDone?: boolean }>();
  const mediaId = values['header.mediaId'];
  const upload = async (file: File): Promise<void> => {
    setState({ name: file.name });
    try {
      const id = await client.upload(file, { filename: file.name });
      setState({ name: file.name, isDone: true });
      onChange({ values: { ...values, 'header.mediaId': id, 'header.link': '' } });
    } catch (error) {
      setState({ name: file.name, problem: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <div className="form">
      {mediaId ? (
        <p className="file-chosen">
          <Icon name="file" size={18} />{' '}
          <span className="ellipsis" dir="auto">
            {state?.name ?? t('campaigns.uploaded')}
          </span>
          <button
            type="button"
            className="icon-button small"
            aria-label={t('composer.removeFile', { name: state?.name ?? name })}
            onClick={() => onChange({ values: { ...values, 'header.mediaId': '' } })}
          >
            <Icon name="close" size={16} />
          </button>
        </p>
      ) : (
        <>
          <Field
            label={t('template.header', { name })}
            placeholder="https://…"
            value={values['header.link'] ?? ''}
            onChange={value => onChange({ values: { ...values, 'header.link': value } })}
          />
          <label className="button small upload-button">
            <Icon name="upload" size={16} /> {t('campaigns.uploadFile')}
            <input
              type="file"
              className="visually-hidden"
              onChange={event => {
                const file = event.target.files?.[0];
                if (file) void upload(file);
              }}
            />
          </label>
          {state && !state.isDone && !state.problem && (
            <p className="muted small">{t('composer.uploading', { name: state.name })}</p>
          )}
          {state?.problem && <p className="notice danger">{state.problem}</p>}
        </>
      )}
    </div>
  );
}

/** A column has no value here: its name stands for it. */
const withColumnNames = (text: string): string =>
  text.replaceAll(/@\{column\.([^}|]+)(?:\|[^}]*)?\}/g, (_, name: string) => `‹${name}›`);

function MessagePreview({
  template,
  values,
}: {
  readonly template: Template;
  readonly values: CampaignDraft['values'];
}) {
  const { t } = useTexts();
  const shown = useDeferredValue(
    useMemo(() => {
      const filled = fieldsOf(template).map(({ key, example }) => [
        key,
        withColumnNames(values[key] || (key === 'header.link' ? 'https://example.com/file' : example || '…')),
      ]);
      return templateInputOf(template, {
        ...Object.fromEntries(filled),
        'header.mediaId': values['header.mediaId'] ?? '',
      });
    }, [template, values]),
  );
  const [{ data }] = useQuery({ query: PreviewTemplateDocument, variables: { template: shown } });
  const rendered = data?.previewTemplate?.rendered;
  return (
    <fieldset className="preview" aria-label={t('template.preview')}>
      <div className="bubble ours">
        {rendered ? (
          <RenderedTemplate rendered={rendered} />
        ) : (
          <UserErrors errors={data?.previewTemplate?.userErrors ?? []} />
        )}
      </div>
    </fieldset>
  );
}

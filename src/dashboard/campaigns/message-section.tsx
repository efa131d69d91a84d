import { useMemo, useRef } from 'react';
import { TemplatePreview } from '../inbox/template-preview.tsx';
import { fieldsOf, type TemplateField } from '../inbox/template-values.ts';
import { HeaderFile } from '../templates/header-file.tsx';
import type { Template } from '../templates/use-templates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { Menu } from '../ui/menu.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Select } from '../ui/select.tsx';
import { type UserError, UserErrors } from '../ui/user-errors.tsx';
import type { CampaignDraft } from './campaign-draft.ts';

const MERGE_FIELDS = ['contact_first_name', 'contact_full_name', 'contact_company', 'contact_email'] as const;

interface Props {
  readonly draft: CampaignDraft;
  readonly templates: readonly Template[];
  /** The search field, if there are more templates than one answer has. */
  readonly search: { readonly value: string; readonly onChange: (value: string) => void } | undefined;
  readonly errors: readonly UserError[];
  /** Takes a function of the current values, because an upload may end while other values are typed. */
  readonly onValues: (change: (before: CampaignDraft['values']) => CampaignDraft['values']) => void;
  readonly onTemplate: (template: Template | undefined) => void;
  readonly onUploading: (isUploading: boolean) => void;
}

/** The template and its values: texts, fields of the contact, or columns of the uploaded list, with the message beside them. */
export function MessageSection({ draft, templates, search, errors, onValues, onTemplate, onUploading }: Props) {
  const { t } = useTexts();
  const template = templates.find(({ id }) => id === draft.templateId);
  const templateErrors = errors.filter(({ path }) => path?.[0] === 'template');
  const fields = template ? fieldsOf(template) : [];
  const columns = draft.kind === 'list' ? (draft.list?.columns ?? []) : [];
  const set = (key: string, value: string): void => onValues(before => ({ ...before, [key]: value }));
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
            field.key === 'header.link' && template ? (
              <HeaderFile
                key={template.id}
                template={template}
                values={draft.values}
                onChange={onValues}
                onUploading={onUploading}
              />
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

/** One value of the template. A field of the contact or a column of the list is inserted at the caret. */
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

/** Shows the name of a column in place of its value, which differs for each recipient. */
const withColumnNames = (text: string): string =>
  text.replaceAll(/@\{column\.([^}|]+)(?:\|[^}]*)?\}/g, (_, name: string) => `‹${name}›`);

function MessagePreview({
  template,
  values,
}: {
  readonly template: Template;
  readonly values: CampaignDraft['values'];
}) {
  const shown = useMemo(
    () => Object.fromEntries(Object.entries(values).map(([key, text]) => [key, withColumnNames(text)])),
    [values],
  );
  return <TemplatePreview template={template} values={shown} />;
}

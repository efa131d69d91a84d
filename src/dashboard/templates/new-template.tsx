import { useEffect, useState } from 'react';
import { useMutation } from 'urql';
import { CreateTemplateDocument, type TemplateCategory } from '../documents.generated.ts';
import { RenderedTemplate } from '../inbox/rendered-template.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import '../styles/templates.css';
import { ButtonFields } from './button-fields.tsx';
import { HeaderFields } from './header-fields.tsx';
import {
  componentsOf,
  EMPTY_DRAFT,
  isFileKind,
  placeOf,
  type TemplateDraft,
  variablesOf,
  viewOf,
} from './template-draft.ts';

const CATEGORIES = ['UTILITY', 'MARKETING'] as const satisfies readonly TemplateCategory[];
/** Where the form shows a message at its field. */
const SHOWN =
  /^(name|language|category|HEADER(\.(text|example(\.media_id)?))?|BODY\.text|FOOTER\.text|BUTTONS(\.\d+\.(text|url|phone_number|example))?)$/;

/** Writes a template, shows it as on a phone, and submits it for review. */
export function NewTemplate({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateTemplateDocument);
  const [draft, setDraft] = useState<TemplateDraft>(EMPTY_DRAFT);
  const errors = data?.createTemplate?.userErrors ?? [];
  const patch = (changes: Partial<TemplateDraft>): void => setDraft(before => ({ ...before, ...changes }));
  const set = (name: 'name' | 'language' | 'body' | 'footer') => (value: string) => patch({ [name]: value });
  const errorAt = (place: string): string | undefined =>
    errors
      .filter(each => placeOf(each, draft) === place)
      .map(({ message }) => message)
      .join(' ') || undefined;
  const { name, language, category, headerKind, file, body, examples, footer, buttons } = draft;
  const fileUrl = file?.url;
  useEffect(() => () => URL.revokeObjectURL(fileUrl ?? ''), [fileUrl]);
  const submit = async (): Promise<void> => {
    const { data: made } = await create({ input: { name, language, category, components: componentsOf(draft) } });
    if (made?.createTemplate?.template) onClose();
  };
  return (
    <FormDialog
      title={t('templates.new')}
      action={t('templates.submit')}
      onClose={onClose}
      onSubmit={submit}
      errors={errors}
      isShown={each => SHOWN.test(placeOf(each, draft))}
      failure={error}
      isBusy={fetching || (isFileKind(headerKind) && file !== undefined && file.mediaId === undefined)}
      isWide
      beside={
        <fieldset className="preview" aria-label={t('template.preview')}>
          <div className="bubble ours">
            <RenderedTemplate rendered={viewOf(draft)} />
          </div>
        </fieldset>
      }
    >
      <div className="form-row">
        <Field
          label={t('name')}
          value={name}
          onChange={set('name')}
          error={errorAt('name')}
          hint={t('templates.nameHint')}
          isRequired
        />
        <Field
          label={t('language')}
          value={language}
          onChange={set('language')}
          error={errorAt('language')}
          isRequired
        />
        <Select
          label={t('templates.category')}
          value={category}
          onChange={value => patch({ category: value as TemplateCategory })}
          error={errorAt('category')}
        >
          {CATEGORIES.map(each => (
            <option key={each} value={each}>
              {t(`category.${each}`)}
            </option>
          ))}
        </Select>
      </div>
      <HeaderFields draft={draft} onChange={setDraft} errorAt={errorAt} />
      <Field
        label={t('templates.body')}
        value={body}
        onChange={set('body')}
        rows={4}
        error={errorAt('BODY.text')}
        hint={t('templates.bodyHint')}
        isRequired
      />
      {variablesOf(body).map(variable => (
        <Field
          key={variable}
          label={t('templates.example', { name: `{{${variable}}}` })}
          value={examples[variable] ?? ''}
          onChange={value => patch({ examples: { ...examples, [variable]: value } })}
          isRequired
        />
      ))}
      <Field label={t('templates.footer')} value={footer} onChange={set('footer')} error={errorAt('FOOTER.text')} />
      <ButtonFields buttons={buttons} onChange={changed => patch({ buttons: changed })} errorAt={errorAt} />
    </FormDialog>
  );
}

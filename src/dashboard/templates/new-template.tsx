import { type FormEvent, useState } from 'react';
import { useMutation } from 'urql';
import { CreateTemplateDocument, type TemplateCategory } from '../documents.generated.ts';
import { WhatsAppText } from '../inbox/whatsapp-text.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';

const CATEGORIES = ['UTILITY', 'MARKETING'] as const satisfies readonly TemplateCategory[];
const EMPTY = { name: '', language: 'en_US', header: '', body: '', footer: '', buttons: '' };

/** Writes a template, shows it as on a phone, and submits it for review. */
export function NewTemplate({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, create] = useMutation(CreateTemplateDocument);
  const [category, setCategory] = useState<TemplateCategory>('UTILITY');
  const [values, setValues] = useState(EMPTY);
  const [examples, setExamples] = useState<Readonly<Record<string, string>>>({});
  const errors = data?.createTemplate?.userErrors ?? [];
  const set = (name: keyof typeof EMPTY) => (value: string) => setValues({ ...values, [name]: value });
  const variables = [...new Set([...values.body.matchAll(/\{\{(\d+)\}\}/g)].map(match => match[1] ?? ''))];
  const buttons = values.buttons
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean);
  const filled = values.body.replace(/\{\{(\d+)\}\}/g, (whole, name: string) => examples[name] || whole);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const components = [
      ...(values.header ? [{ type: 'HEADER', format: 'TEXT', text: values.header }] : []),
      {
        type: 'BODY',
        text: values.body,
        ...(variables.length > 0 && { example: { body_text: [variables.map(name => examples[name] ?? '')] } }),
      },
      ...(values.footer ? [{ type: 'FOOTER', text: values.footer }] : []),
      ...(buttons.length > 0
        ? [{ type: 'BUTTONS', buttons: buttons.map(text => ({ type: 'QUICK_REPLY', text })) }]
        : []),
    ];
    const input = { name: values.name, language: values.language, category, components };
    const { data: made } = await create({ input });
    if (made?.createTemplate?.template) onClose();
  };
  return (
    <Dialog title={t('templates.new')} onClose={onClose} isWide>
      <div className="form-and-preview">
        <form className="form" onSubmit={event => void submit(event)}>
          <div className="form-row">
            <Field
              label={t('name')}
              value={values.name}
              onChange={set('name')}
              error={errorsOf(errors, 'name')}
              hint={t('templates.nameHint')}
              isRequired
            />
            <Field
              label={t('language')}
              value={values.language}
              onChange={set('language')}
              error={errorsOf(errors, 'language')}
              isRequired
            />
            <label className="field">
              <span>{t('templates.category')}</span>
              <select value={category} onChange={event => setCategory(event.target.value as TemplateCategory)}>
                {CATEGORIES.map(each => (
                  <option key={each} value={each}>
                    {t(`category.${each}`)}
                  </option>
                ))}
              </select>
            </label>
          </div>
          <Field label={t('templates.header')} value={values.header} onChange={set('header')} />
          <Field
            label={t('templates.body')}
            value={values.body}
            onChange={set('body')}
            rows={4}
            hint={t('templates.bodyHint')}
            isRequired
          />
          {variables.map(name => (
            <Field
              key={name}
              label={t('templates.example', { name: `{{${name}}}` })}
              value={examples[name] ?? ''}
              onChange={value => setExamples({ ...examples, [name]: value })}
              isRequired
            />
          ))}
          <Field label={t('templates.footer')} value={values.footer} onChange={set('footer')} />
          <Field label={t('templates.buttons')} value={values.buttons} onChange={set('buttons')} rows={2} />
          <UserErrors
            errors={errors.filter(({ path }) => !['name', 'language'].includes(path?.[0] ?? ''))}
            failure={error}
          />
          <div className="dialog-foot">
            <button type="button" className="button" onClick={onClose}>
              {t('cancel')}
            </button>
            <button type="submit" className="button primary" disabled={fetching}>
              {t('templates.submit')}
            </button>
          </div>
        </form>
        <fieldset className="preview" aria-label={t('template.preview')}>
          <div className="bubble ours">
            {values.header && <p className="template-header">{values.header}</p>}
            <WhatsAppText text={filled || '…'} />
            {values.footer && <p className="template-footer">{values.footer}</p>}
            <div className="template-buttons">
              {buttons.map(text => (
                <span key={text}>{text}</span>
              ))}
            </div>
          </div>
        </fieldset>
      </div>
    </Dialog>
  );
}

import { type FormEvent, useMemo, useState } from 'react';
import type { ConversationRowFragment } from '../documents.generated.ts';
import { HeaderFile } from '../templates/header-file.tsx';
import { SENDABLE, type Template, useTemplates } from '../templates/use-templates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { AnsweredDialog } from './answered-dialog.tsx';
import { useDraft } from './draft.ts';
import { instantOf, SendLaterField } from './send-later.tsx';
import { TemplatePreview } from './template-preview.tsx';
import { fieldsOf, templateInputOf } from './template-values.ts';
import { useSend } from './use-send.ts';

interface Props {
  readonly conversation: ConversationRowFragment;
  readonly onClose: () => void;
}

/** Chooses a template, fills it in, shows it as the person will see it, and sends it. */
export function TemplateDialog({ conversation, onClose }: Props) {
  const { t } = useTexts();
  const [search, setSearch] = useState('');
  const [picked, setPicked] = useState<Template>();
  const { templates, hasMore } = useTemplates(SENDABLE, search, picked?.name);
  const chosen = templates?.find(({ id }) => id === picked?.id) ?? templates?.[0];
  return (
    <Dialog title={t('composer.sendTemplate')} onClose={onClose} isWide>
      {(hasMore || search !== '') && <SearchField label={t('templates.search')} value={search} onChange={setSearch} />}
      {!templates?.length ? (
        <p className="muted">{templates ? t(search === '' ? 'template.none' : 'template.noMatch') : ''}</p>
      ) : (
        <div className="template-dialog">
          <ul className="template-list" aria-label={t('nav.templates')}>
            {templates.map(template => (
              <li key={template.id}>
                <button
                  type="button"
                  className="template-choice"
                  aria-pressed={template.id === chosen?.id}
                  onClick={() => setPicked(template)}
                >
                  <strong>{template.name}</strong>
                  <span className="muted small">
                    <bdi>{template.language}</bdi> · {t(`category.${template.category}`)}
                  </span>
                </button>
              </li>
            ))}
          </ul>
          {chosen && <TemplateForm key={chosen.id} template={chosen} conversation={conversation} onClose={onClose} />}
        </div>
      )}
    </Dialog>
  );
}

function TemplateForm({ template, conversation, onClose }: Props & { readonly template: Template }) {
  const { t } = useTexts();
  const fields = useMemo(() => fieldsOf(template), [template]);
  // The first name of the person fits most first parameters; a fallback makes it work without one.
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    fields[0]?.part === 'body' && conversation.contact
      ? { [fields[0].key]: `@{contact_first_name|${t('merge.there')}}` }
      : {},
  );
  const { send, errors, failure, isSending, blockedSend } = useSend(conversation.id);
  const { quote } = useDraft();
  const [isUploading, setUploading] = useState(false);
  const [later, setLater] = useState('');
  const input = useMemo(() => templateInputOf(template, values), [template, values]);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await send({ template: input }, { scheduledAt: instantOf(later) })) {
      quote(undefined);
      onClose();
    }
  };
  return (
    <>
      <form className="form" onSubmit={event => void submit(event)}>
        {fields.length === 0 && <p className="muted">{t('template.noFields')}</p>}
        {fields.map(({ key, part, name, example }) =>
          key === 'header.link' ? (
            <HeaderFile key={key} template={template} values={values} onChange={setValues} onUploading={setUploading} />
          ) : (
            <label className="field" key={key}>
              <span>{t(`template.${part}`, { name })}</span>
              <input
                required
                value={values[key] ?? ''}
                placeholder={example}
                onChange={event => setValues({ ...values, [key]: event.target.value })}
              />
            </label>
          ),
        )}
        <SendLaterField value={later} onChange={setLater} />
        <UserErrors errors={errors} failure={failure} />
        <footer className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary" disabled={isSending || isUploading}>
            {later === '' ? t('composer.send') : t('later.schedule')}
          </button>
        </footer>
      </form>
      {blockedSend && <AnsweredDialog blockedSend={blockedSend} />}
      <TemplatePreview template={template} values={values} contactId={conversation.contact?.id} />
    </>
  );
}

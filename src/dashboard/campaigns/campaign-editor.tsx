import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { Link, useLocation, useSearchParams } from 'wouter';
import { readFilter } from '../contacts/contact-filter.ts';
import {
  CampaignChannelsDocument,
  CampaignDetailsDocument,
  type CampaignMoreFragment,
  CreateCampaignDocument,
  UpdateCampaignDocument,
} from '../documents.generated.ts';
import { SENDABLE, useTemplates } from '../templates/use-templates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';
import { AudienceSection } from './audience-section.tsx';
import { type CampaignDraft, campaignInputOf, draftOf, hasAudience, newDraft } from './campaign-draft.ts';
import { DeliverySection } from './delivery-section.tsx';
import { MessageSection } from './message-section.tsx';

/** Writes a campaign: name, audience, message, delivery. It is saved as a draft, whose page shows the preview and starts it. */
export function CampaignEditor({ id }: { readonly id: string | undefined }) {
  const { t } = useTexts();
  const [params] = useSearchParams();
  const [existing] = useQuery({
    query: CampaignDetailsDocument,
    variables: { id: id ?? '' },
    pause: id === undefined,
    requestPolicy: 'network-only',
  });
  const campaign = existing.data?.campaign;
  const { templates } = useTemplates(SENDABLE, '', templateNameOf(campaign));
  const initial = useMemo<CampaignDraft | undefined>(() => {
    if (!templates) return undefined;
    if (id === undefined) return newDraft(readFilter(params.get('filter')));
    return campaign ? draftOf(campaign, templates) : undefined;
  }, [id, templates, campaign, params]);
  if (!initial)
    return (
      <Page title={t('campaigns.new')}>
        <p className="muted">{!templates || existing.fetching ? '…' : t('campaigns.missing')}</p>
      </Page>
    );
  return (
    <EditorForm
      key={campaign?.id ?? 'new'}
      id={campaign?.id}
      initial={initial}
      initialTemplateName={templateNameOf(campaign)}
    />
  );
}

const templateNameOf = (campaign: CampaignMoreFragment | null | undefined): string | undefined =>
  campaign?.content.__typename === 'TemplateContent' ? campaign.content.templateName : undefined;

interface FormProps {
  readonly id: string | undefined;
  readonly initial: CampaignDraft;
  readonly initialTemplateName: string | undefined;
}

/** Fields that show their faults themselves. */
const PLACED = new Set([
  'name',
  'channelId',
  'template',
  'audience',
  'sendingHours',
  'messagesPerSecond',
  'firstWave',
  'maxFailurePercent',
  'frequencyCap',
]);

const MISSING = {
  name: 'campaigns.needsName',
  audience: 'campaigns.needsAudience',
  template: 'campaigns.needsTemplate',
} as const;

/** Required parts that the draft still lacks. */
function missingOf(draft: CampaignDraft, hasTemplate: boolean): (keyof typeof MISSING)[] {
  const isThere = { name: draft.name.trim() !== '', audience: hasAudience(draft), template: hasTemplate };
  return (Object.keys(MISSING) as (keyof typeof MISSING)[]).filter(name => !isThere[name]);
}

function EditorForm({ id, initial, initialTemplateName }: FormProps) {
  const { t } = useTexts();
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(initial);
  const [isUploading, setUploading] = useState(false);
  const [isTried, setTried] = useState(false);
  const [created, create] = useMutation(CreateCampaignDocument);
  const [updated, update] = useMutation(UpdateCampaignDocument);
  const [{ data: channelData }] = useQuery({ query: CampaignChannelsDocument });
  const channels = channelData?.channels?.nodes ?? [];
  const [search, setSearch] = useState('');
  const [templateName, setTemplateName] = useState(initialTemplateName);
  const { templates = [], hasMore } = useTemplates(SENDABLE, search, templateName);
  const template = templates.find(each => each.id === draft.templateId);
  const errors = [
    ...(isTried ? missingOf(draft, template !== undefined) : []).map(name => ({
      message: t(MISSING[name]),
      path: [name],
    })),
    ...(created.data?.createCampaign?.userErrors ?? []),
    ...(updated.data?.updateCampaign?.userErrors ?? []),
  ];
  const change = (changes: Partial<CampaignDraft>): void => setDraft(before => ({ ...before, ...changes }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const input = template && campaignInputOf(draft, template);
    const needed = missingOf(draft, template !== undefined);
    setTried(true);
    if (!input || needed.length > 0) return;
    const { audience } = input;
    if (id !== undefined) {
      const { data } = await update({ input: { ...input, id } });
      const saved = data?.updateCampaign?.campaign;
      if (saved) navigate(`/campaigns/${saved.databaseId}`);
    } else if (audience) {
      const { data } = await create({ input: { ...input, audience } });
      const saved = data?.createCampaign?.campaign;
      if (saved) navigate(`/campaigns/${saved.databaseId}`);
    }
  };
  // The first fault is brought into view: the form is longer than most windows.
  const faults = errors.length;
  useEffect(() => {
    if (faults > 0) document.querySelector('.field-error, .notice.danger')?.scrollIntoView({ block: 'center' });
  }, [faults]);
  return (
    <Page
      title={id === undefined ? t('campaigns.new') : t('campaigns.editTitle', { name: initial.name })}
      above={
        <Link href="/campaigns" className="back-link">
          <Icon name="back" size={16} /> {t('nav.campaigns')}
        </Link>
      }
      lead={t('campaigns.editLead')}
    >
      <form className="campaign-form" onSubmit={event => void submit(event)} noValidate>
        <section className="card">
          <h2>{t('campaigns.basics')}</h2>
          <div className="form-row">
            <Field
              label={t('name')}
              hint={t('campaigns.nameHint')}
              value={draft.name}
              error={errorsOf(errors, 'name')}
              onChange={name => change({ name })}
              isRequired
            />
            {channels.length > 1 && (
              <Select
                label={t('details.channel')}
                value={draft.channelId}
                error={errorsOf(errors, 'channelId')}
                onChange={channelId => change({ channelId })}
              >
                <option value="">{t('delivery.defaultChannel')}</option>
                {channels.map(({ id: key, verifiedName, displayPhoneNumber }) => (
                  <option key={key} value={key}>
                    {verifiedName} {displayPhoneNumber}
                  </option>
                ))}
              </Select>
            )}
          </div>
        </section>
        <AudienceSection draft={draft} errors={errors} onChange={change} />
        <MessageSection
          draft={draft}
          templates={templates}
          search={hasMore || search !== '' ? { value: search, onChange: setSearch } : undefined}
          errors={errors}
          onValues={update => setDraft(before => ({ ...before, values: update(before.values) }))}
          onTemplate={chosen => {
            setTemplateName(chosen?.name);
            change({ templateId: chosen?.id, values: {} });
          }}
          onUploading={setUploading}
        />
        <DeliverySection draft={draft} errors={errors} onChange={change} />
        <UserErrors
          errors={errors.filter(({ path }) => !PLACED.has(path?.[0] ?? ''))}
          failure={created.error ?? updated.error}
        />
        <div className="form-end">
          <Link href="/campaigns" className="button">
            {t('cancel')}
          </Link>
          <button
            type="submit"
            className="button primary"
            disabled={created.fetching || updated.fetching || isUploading}
          >
            {t('campaigns.saveAndPreview')}
          </button>
        </div>
      </form>
    </Page>
  );
}

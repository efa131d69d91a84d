import type {
  CampaignAudienceInput,
  CampaignMoreFragment,
  ContactFilter,
  CreateCampaignInput,
} from '../documents.generated.ts';
import { templateInputOf } from '../inbox/template-values.ts';
import type { Template } from '../templates/use-templates.ts';

export const AUDIENCES = ['groups', 'filter', 'contacts', 'list'] as const;
export type AudienceKind = (typeof AUDIENCES)[number];

export interface ListChoice {
  readonly id: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly rowCount: number;
}

export interface NamedContact {
  readonly id: string;
  readonly displayName: string;
  readonly phone: string | null;
}

/** The form of a campaign. Numbers are as they were typed; an empty one takes the default. */
export interface CampaignDraft {
  readonly name: string;
  readonly channelId: string;
  readonly templateId: string | undefined;
  readonly values: Readonly<Record<string, string>>;
  readonly kind: AudienceKind;
  readonly groupIds: readonly string[];
  readonly filter: ContactFilter;
  readonly contacts: readonly NamedContact[];
  readonly phones: string;
  readonly list: ListChoice | undefined;
  /** Number of contacts that a stored draft names; who they are is not loaded. They stay unless others are named. */
  readonly keptContacts: number;
  readonly hasHours: boolean;
  readonly hoursStart: string;
  readonly hoursEnd: string;
  readonly rate: string;
  readonly firstWave: string;
  readonly maxFailure: string;
  readonly hasCap: boolean;
  readonly capMessages: string;
  readonly capDays: string;
}

export const newDraft = (filter: ContactFilter): CampaignDraft => ({
  name: '',
  channelId: '',
  templateId: undefined,
  values: {},
  kind: Object.keys(filter).length > 0 ? 'filter' : 'groups',
  groupIds: [],
  filter,
  contacts: [],
  phones: '',
  list: undefined,
  keptContacts: 0,
  hasHours: true,
  hoursStart: '09:00',
  hoursEnd: '20:00',
  rate: '',
  firstWave: '',
  maxFailure: '20',
  hasCap: false,
  capMessages: '2',
  capDays: '7',
});

/** The form of a campaign that exists. */
export function draftOf(campaign: CampaignMoreFragment, templates: readonly Template[]): CampaignDraft {
  const { audience, content, sendingHours, frequencyCap } = campaign;
  const sent = content.__typename === 'TemplateContent' ? content : undefined;
  const template = templates.find(({ name, language }) => name === sent?.templateName && language === sent.language);
  const groupIds = audience.groups?.map(({ id }) => id) ?? [];
  return {
    ...newDraft({}),
    name: campaign.name,
    channelId: campaign.channel?.id ?? '',
    templateId: template?.id,
    values: template && sent ? valuesOf(template, sent.values) : {},
    kind:
      groupIds.length > 0 ? 'groups' : audience.list ? 'list' : audience.contactCount === null ? 'filter' : 'contacts',
    groupIds,
    filter: (audience.filter as ContactFilter | null) ?? {},
    list: audience.list ?? undefined,
    keptContacts: audience.contactCount ?? 0,
    hasHours: sendingHours !== null,
    hoursStart: sendingHours?.start ?? '09:00',
    hoursEnd: sendingHours?.end ?? '20:00',
    rate: campaign.messagesPerSecond?.toString() ?? '',
    firstWave: campaign.firstWave?.toString() ?? '',
    maxFailure: String(campaign.maxFailurePercent),
    hasCap: frequencyCap !== null,
    capMessages: String(frequencyCap?.messages ?? 2),
    capDays: String(frequencyCap?.days ?? 7),
  };
}

type StoredValues = Extract<CampaignMoreFragment['content'], { __typename: 'TemplateContent' }>['values'];

/** The values of a stored template by the keys of its form. */
function valuesOf(template: Template, { body, bodyByName, buttons, header }: StoredValues): Record<string, string> {
  const headerName = template.header?.parameters[0]?.name;
  return {
    ...Object.fromEntries(
      (template.body?.parameters ?? []).map(({ name }, index) => [`body.${name}`, body[index] ?? '']),
    ),
    ...Object.fromEntries(bodyByName.map(({ name, value }) => [`body.${name}`, value])),
    ...Object.fromEntries(buttons.map(({ index, value }) => [`button.${index}`, value])),
    ...(header?.link != null && { 'header.link': header.link }),
    ...(header?.mediaId != null && { 'header.mediaId': header.mediaId }),
    ...(header?.text != null && headerName !== undefined && { [`header.${headerName}`]: header.text }),
  };
}

/** Numbers that are written one below the other, or with commas between them. */
export const phonesOf = (text: string): string[] =>
  text
    .split(/[\n,;]/)
    .map(phone => phone.trim())
    .filter(Boolean);

function audienceOf(draft: CampaignDraft): CampaignAudienceInput | undefined {
  switch (draft.kind) {
    case 'groups':
      return { groupIds: [...draft.groupIds] };
    case 'filter':
      return { filter: draft.filter };
    case 'list':
      return draft.list && { listId: draft.list.id };
    case 'contacts': {
      const phones = phonesOf(draft.phones);
      if (phones.length > 0) return { phones: [...phones, ...draft.contacts.flatMap(({ phone }) => phone ?? [])] };
      return draft.contacts.length > 0 ? { contactIds: draft.contacts.map(({ id }) => id) } : undefined;
    }
  }
}

/** Whether the audience names anybody; the people of a stored campaign are kept when no others are named. */
export const hasAudience = (draft: CampaignDraft): boolean =>
  draft.kind === 'groups'
    ? draft.groupIds.length > 0
    : audienceOf(draft) !== undefined || (draft.kind === 'contacts' && draft.keptContacts > 0);

const numberOf = (text: string): number | null => (text.trim() === '' ? null : Math.round(Number(text)));

/** The input of the API. Omitted fields keep their values. */
export function campaignInputOf(
  draft: CampaignDraft,
  template: Template,
): Omit<CreateCampaignInput, 'audience'> & { readonly audience?: CampaignAudienceInput } {
  const audience = audienceOf(draft);
  return {
    name: draft.name,
    template: templateInputOf(template, draft.values),
    ...(audience && { audience }),
    channelId: draft.channelId || null,
    sendingHours: draft.hasHours ? { start: draft.hoursStart, end: draft.hoursEnd } : null,
    messagesPerSecond: numberOf(draft.rate),
    firstWave: numberOf(draft.firstWave),
    maxFailurePercent: numberOf(draft.maxFailure),
    frequencyCap: draft.hasCap
      ? { messages: numberOf(draft.capMessages) ?? 0, days: numberOf(draft.capDays) ?? 0 }
      : null,
  };
}

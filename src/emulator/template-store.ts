import type { JsonObject } from '../platform/json.ts';
import { newObjectId } from './wamid.ts';

/** Source: Meta's template pages; the webhook's `event` uses the same words. Only APPROVED can be sent. */
export const TEMPLATE_STATUSES = [
  'APPROVED',
  'PENDING',
  'REJECTED',
  'PAUSED',
  'DISABLED',
  'IN_APPEAL',
  'REINSTATED',
  'FLAGGED',
  'PENDING_DELETION',
  'DELETED',
  'LIMIT_EXCEEDED',
  'LOCKED',
  'ARCHIVED',
  'UNARCHIVED',
] as const;
export type TemplateStatus = (typeof TEMPLATE_STATUSES)[number];

export interface TemplateRecord {
  readonly id: string;
  readonly wabaId: string;
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly status: TemplateStatus;
  readonly parameterFormat: 'POSITIONAL' | 'NAMED';
  readonly components: readonly JsonObject[];
}

/** An initial template; default: APPROVED, in every business account. */
export interface TemplateSeed {
  readonly name: string;
  readonly language: string;
  readonly category: 'MARKETING' | 'UTILITY' | 'AUTHENTICATION';
  readonly components: readonly JsonObject[];
  readonly status?: TemplateStatus;
  readonly wabaId?: string;
  readonly parameterFormat?: 'POSITIONAL' | 'NAMED';
}

/** The template of every new business account. */
export const HELLO_WORLD: TemplateSeed = {
  name: 'hello_world',
  language: 'en_US',
  category: 'UTILITY',
  components: [
    { type: 'HEADER', format: 'TEXT', text: 'Hello World' },
    {
      type: 'BODY',
      text: 'Welcome and congratulations!! This message demonstrates your ability to send a template message.',
    },
    { type: 'FOOTER', text: 'WhatsApp Business Platform sample message' },
  ],
};

export interface TemplateStore {
  put(template: TemplateRecord): void;
  remove(id: string): void;
  get(id: string): TemplateRecord | undefined;
  /** The templates of an account, oldest first. */
  of(wabaId: string): TemplateRecord[];
  find(wabaId: string, name: string, language: string): TemplateRecord | undefined;
  all(): Iterable<TemplateRecord>;
}

export function createTemplateStore(): TemplateStore {
  const byId = new Map<string, TemplateRecord>();
  return {
    put: template => void byId.set(template.id, template),
    remove: id => void byId.delete(id),
    get: id => byId.get(id),
    of: wabaId => [...byId.values()].filter(t => t.wabaId === wabaId),
    find: (wabaId, name, language) =>
      byId.values().find(t => t.wabaId === wabaId && t.name === name && t.language === language),
    all: () => byId.values(),
  };
}

export function seedTemplate(seed: TemplateSeed, wabaId: string): TemplateRecord {
  return {
    id: newObjectId(),
    wabaId,
    name: seed.name,
    language: seed.language,
    category: seed.category,
    status: seed.status ?? 'APPROVED',
    parameterFormat: seed.parameterFormat ?? 'POSITIONAL',
    components: seed.components,
  };
}

/** A template in the format of the Graph API. */
export function templateObject(template: TemplateRecord): JsonObject {
  return {
    name: template.name,
    parameter_format: template.parameterFormat,
    components: template.components,
    language: template.language,
    status: template.status,
    category: template.category,
    id: template.id,
  };
}

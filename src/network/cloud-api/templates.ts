import { asId, asList, asObject, asText, type JsonObject } from '../../platform/json.ts';
import {
  type ChannelCredentials,
  type Network,
  NetworkCallError,
  type NetworkTemplate,
  type SubmittedTemplate,
} from '../network.ts';
import type { NetworkUpdate } from '../updates.ts';
import { reasonOf } from './webhook/health.ts';

/** Makes a call and returns the parsed body. @throws NetworkCallError */
type Call = (
  channel: ChannelCredentials,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: JsonObject,
) => Promise<JsonObject>;

/** Listed explicitly, because the network omits `quality_score` and `rejected_reason` by default. */
const FIELDS = 'id,name,language,category,status,parameter_format,components,quality_score,rejected_reason';
/** The network's maximum; a page may have fewer. */
const PAGE = 100;
/** An account has at most 6,000 templates (cloud-api §6), 240 pages of 25. A longer list is treated as endless. */
const MAX_PAGES = 1_000;

/** The calls of `Network` for templates. */
export function createTemplateCalls(call: Call): Pick<Network, 'templatePages' | 'createTemplate' | 'deleteTemplate'> {
  const edge = ({ wabaId }: ChannelCredentials, query: Readonly<Record<string, string>> = {}): string =>
    `${encodeURIComponent(wabaId)}/message_templates?${new URLSearchParams(query)}`;

  return {
    async *templatePages(channel) {
      let after: string | undefined;
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const query = { fields: FIELDS, limit: String(PAGE), ...(after !== undefined && { after }) };
        const body = await call(channel, 'GET', edge(channel, query));
        if (!Array.isArray(body['data'])) throw new NetworkCallError('templates: the response has no list');
        yield body['data'].flatMap(readTemplate);
        const next = cursorOfNext(body['paging']);
        if (next === undefined) return;
        if (next === after) break;
        after = next;
      }
      throw new NetworkCallError('templates: the list does not end');
    },

    async createTemplate(channel, { name, language, category, parameterFormat, components }) {
      const definition = { name, language, category, parameter_format: parameterFormat, components };
      const body = await call(channel, 'POST', edge(channel), definition);
      const id = asId(body['id']);
      if (id === undefined) throw new NetworkCallError('templates: the response has no id');
      const submitted: SubmittedTemplate = {
        id,
        status: asText(body['status']) ?? 'PENDING',
        category: asText(body['category']) ?? category,
      };
      return submitted;
    },

    async deleteTemplate(channel, { id, name }) {
      await call(channel, 'DELETE', edge(channel, { hsm_id: id, name }));
    },
  };
}

/**
 * The cursor of the next page. Only `next` shows that there is one: the last page has `cursors.after` too. Uses only the cursor of the
 * URL, so that a response cannot direct our token to another host.
 */
function cursorOfNext(value: unknown): string | undefined {
  const paging = asObject(value);
  const next = asText(paging?.['next']);
  if (next === undefined) return undefined;
  const cursor = asText(asObject(paging?.['cursors'])?.['after']);
  return cursor ?? (URL.canParse(next) ? (new URL(next).searchParams.get('after') ?? undefined) : undefined);
}

/** Skips malformed elements. */
function readTemplate(value: unknown): NetworkTemplate[] {
  const fields = asObject(value);
  const [id, name, language] = [asId(fields?.['id']), asText(fields?.['name']), asText(fields?.['language'])];
  const status = asText(fields?.['status']);
  if (!fields || id === undefined || name === undefined || language === undefined || status === undefined) return [];
  const quality = fields['quality_score'];
  return [
    {
      id,
      name,
      language: withUnderscore(language),
      category: asText(fields['category']) ?? '',
      status,
      statusReason: reasonOf(fields['rejected_reason']),
      parameterFormat: asText(fields['parameter_format']) ?? 'POSITIONAL',
      quality: asText(asObject(quality)?.['score']) ?? asText(quality) ?? null,
      components: asList(fields['components'])
        .map(asObject)
        .filter(component => component !== undefined),
    },
  ];
}

/**
 * Reads a template change of a webhook. Identified by name and language: the id is a JSON number there and may exceed 2^53.
 *
 * @returns undefined for other fields and for changes without a template name
 */
export function readTemplateUpdate(
  wabaId: string,
  field: string,
  value: JsonObject | undefined,
): Extract<NetworkUpdate, { kind: 'template' }> | undefined {
  const name = asText(value?.['message_template_name']);
  const language = asText(value?.['message_template_language']);
  if (!value || name === undefined || language === undefined) return undefined;
  const template = { kind: 'template', wabaId, name, language: withUnderscore(language) } as const;
  switch (field) {
    case 'message_template_status_update': {
      const word = asText(value['event']);
      return word === undefined ? undefined : { ...template, status: { word, reason: reasonOf(value['reason']) } };
    }
    case 'message_template_quality_update': {
      const quality = asText(value['new_quality_score']);
      return quality === undefined ? undefined : { ...template, quality };
    }
    // Also sent a day in advance, with `correct_category` as the future category; `new_category` is the current one in both.
    case 'template_category_update': {
      const category = asText(value['new_category']);
      return category === undefined ? undefined : { ...template, category };
    }
    case 'message_template_components_update':
      return template;
    default:
      return undefined;
  }
}

/** The API writes `en_US`, the samples of its webhooks `en-US`. */
const withUnderscore = (language: string): string => language.replaceAll('-', '_');

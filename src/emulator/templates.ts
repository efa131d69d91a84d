import { asList, asObject, asText, type JsonObject } from '../platform/json.ts';
import { isExample } from './examples.ts';
import { badParameter, graphError } from './graph-error.ts';
import { json, type Reply, type Request, SUCCESS } from './reply.ts';
import { variablesOf } from './template-send.ts';
import { type TemplateRecord, type TemplateStatus, templateObject } from './template-store.ts';
import { newObjectId } from './wamid.ts';
import type { World } from './world.ts';

const PAGE_DEFAULT = 25;
const PAGE_MAX = 100;
/** Source: Meta's template components page. */
const NAME_MAX = 512;
const BODY_MAX = 1_024;
const CATEGORIES = ['MARKETING', 'UTILITY', 'AUTHENTICATION'];

/**
 * `GET /{waba}/message_templates?limit=&after=&status=&name=&fields=`. Pages as recorded: the last page has
 * `cursors.after` but no `next`; an empty list is exactly `{"data":[]}`. A client that follows `after` loops endlessly.
 */
export function listTemplates(world: World, request: Request, wabaId: string): Reply {
  const { query } = request;
  const name = query.get('name');
  const status = query.get('status');
  const all = world.templates
    .of(wabaId)
    .filter(t => (!name || t.name.includes(name)) && (!status || t.status === status.toUpperCase()));
  const limit = Math.min(PAGE_MAX, Math.max(1, Number(query.get('limit') ?? PAGE_DEFAULT) || PAGE_DEFAULT));
  const start = positionOf(query.get('after')) ?? 0;
  const page = all.slice(start, start + limit);
  if (page.length === 0) return json(200, { data: [] });
  const after = cursorAt(start + page.length);
  const paging: Record<string, unknown> = { cursors: { before: cursorAt(start), after } };
  if (start + page.length < all.length) {
    const next = new URLSearchParams(query);
    next.set('limit', String(limit));
    next.set('after', after);
    paging['next'] = `${request.origin}/${request.path.join('/')}?${next}`;
  }
  return json(200, { data: page.map(t => selected(templateObject(t), query.get('fields'))), paging });
}

/** `POST /{waba}/message_templates`: accepted as PENDING and reviewed later, with the result by webhook. */
export function createTemplate(world: World, wabaId: string, body: JsonObject): Reply {
  const name = asText(body['name']);
  const language = asText(body['language']);
  const category = asText(body['category'])?.toUpperCase();
  if (name === undefined || !/^[a-z0-9_]+$/.test(name) || name.length > NAME_MAX) {
    throw badParameter(`Param name must be at most ${NAME_MAX} lowercase letters, digits and underscores.`);
  }
  if (language === undefined) throw badParameter('The parameter language is required.');
  if (category === undefined || !CATEGORIES.includes(category))
    throw badParameter(`Param category must be one of {${CATEGORIES.join(', ')}}.`);
  if (world.templates.find(wabaId, name, language)) {
    throw graphError(100, undefined, { message: 'There is already content in this language for this template.' });
  }
  const components = checkComponents(body['components'], category);
  const parameterFormat = asText(body['parameter_format'])?.toUpperCase() === 'NAMED' ? 'NAMED' : 'POSITIONAL';
  const template: TemplateRecord = {
    id: newObjectId(),
    wabaId,
    name,
    language,
    category,
    status: 'PENDING',
    parameterFormat,
    components,
  };
  put(world, template);
  review(world, template.id);
  return json(200, { id: template.id, status: template.status, category });
}

/** `POST /{template_id}`: only approved, rejected and paused templates; reviewed again. */
export function editTemplate(world: World, template: TemplateRecord, body: JsonObject): Reply {
  if (!['APPROVED', 'REJECTED', 'PAUSED'].includes(template.status)) {
    throw graphError(100, undefined, { message: `Message template in status ${template.status} can't be edited.` });
  }
  const category = asText(body['category'])?.toUpperCase() ?? template.category;
  const components =
    body['components'] === undefined ? template.components : checkComponents(body['components'], category);
  put(world, { ...template, category, components, status: 'PENDING' });
  review(world, template.id);
  return json(200, SUCCESS);
}

/** `DELETE /{waba}/message_templates?name=` deletes all languages, with `&hsm_id=` only that one. */
export function deleteTemplate(world: World, request: Request, wabaId: string): Reply {
  const name = request.query.get('name');
  const id = request.query.get('hsm_id');
  if (!name) throw badParameter('The parameter name is required.');
  const gone = world.templates.of(wabaId).filter(t => t.name === name && (!id || t.id === id));
  if (gone.length === 0) throw graphError(100, undefined, { message: "Message template can't be found." });
  for (const template of gone) {
    world.record({ e: 'template-gone', id: template.id });
    world.templates.remove(template.id);
  }
  return json(200, SUCCESS);
}

/** Changes the status of a template and reports it by webhook (`message_template_status_update`). */
export function setTemplateStatus(
  world: World,
  template: TemplateRecord,
  status: TemplateStatus,
  reason = 'NONE',
): void {
  put(world, { ...template, status });
  const value = {
    event: status,
    message_template_id: Number(template.id),
    message_template_name: template.name,
    // Meta's samples write en-US here and en_US in the API.
    message_template_language: template.language.replace('_', '-'),
    message_template_category: template.category,
    reason,
  };
  const update = {
    kind: 'change',
    seq: world.nextSeq(),
    wabaId: template.wabaId,
    field: 'message_template_status_update',
    value,
  } as const;
  world.record({ e: 'change', u: update });
  world.outbox.add(update, 0);
}

/** Schedules the end of a template's review. Also called for reviews interrupted by a restart. */
export function review(world: World, id: string): void {
  const { templateReview } = world.faults.current;
  if (templateReview === 'manual') return;
  const timer = setTimeout(() => {
    const template = world.templates.get(id);
    if (template?.status !== 'PENDING') return;
    if (templateReview === 'approve') setTemplateStatus(world, template, 'APPROVED');
    else setTemplateStatus(world, template, 'REJECTED', 'INVALID_FORMAT');
  }, world.delays.templateReviewMs);
  timer.unref();
}

function put(world: World, template: TemplateRecord): void {
  world.record({ e: 'template', t: template });
  world.templates.put(template);
}

function checkComponents(value: unknown, category: string): JsonObject[] {
  const components = asList(value).map((component, i) => {
    const fields = asObject(component);
    const type = asText(fields?.['type'])?.toUpperCase();
    if (!fields || type === undefined) throw badParameter(`The parameter components[${i}]['type'] is required.`);
    return { ...fields, type };
  });
  const header: JsonObject | undefined = components.find(component => component.type === 'HEADER');
  const format = asText(header?.['format'])?.toUpperCase() ?? '';
  if (['IMAGE', 'VIDEO', 'DOCUMENT'].includes(format)) {
    const [handle] = asList(asObject(header?.['example'])?.['header_handle']);
    if (!isExample(asText(handle))) throw badParameter(`Templates with ${format} header type need an example/sample.`);
  }
  const body: JsonObject | undefined = components.find(component => component.type === 'BODY');
  if (!body) throw badParameter('The parameter components must hold a BODY.');
  if (category === 'AUTHENTICATION') return components;
  const text = asText(body['text']);
  if (text === undefined) throw badParameter("The parameter components['BODY']['text'] is required.");
  if ([...text].length > BODY_MAX)
    throw badParameter(`Param components['BODY']['text'] must be at most ${BODY_MAX} characters long.`);
  // 2388299 in the network's subcodes.
  if (variablesOf(text).length > 0 && /^\s*\{\{|\}\}\s*$/.test(text))
    throw badParameter('Variables can not be at the start or end of the template.');
  return components;
}

function selected(template: JsonObject, fields: string | null): JsonObject {
  if (!fields) return template;
  const wanted = new Set([...fields.split(','), 'id']);
  return Object.fromEntries(Object.entries(template).filter(([key]) => wanted.has(key)));
}

/** Cursors are opaque; like recorded ones they end in `ZD`, which strict base64 decoders reject. */
function cursorAt(position: number): string {
  return `${Buffer.from(String(position)).toString('base64').replaceAll('=', '')}ZD`;
}

function positionOf(cursor: string | null): number | undefined {
  if (!cursor) return undefined;
  const position = Number(Buffer.from(cursor.replace(/ZD$/, ''), 'base64').toString());
  if (!Number.isInteger(position)) throw badParameter('Invalid cursors values');
  return position;
}

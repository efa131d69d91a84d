import { asList, asObject, asText, type JsonObject } from '../platform/json.ts';
import { badParameter, graphError } from './graph-error.ts';
import { optionalText, requiredText } from './parameters.ts';

/** Limits of interactive messages, from Meta's interactive message pages; lengths in characters. */
const LIMITS = {
  buttons: 3,
  buttonTitle: 20,
  buttonId: 256,
  body: 1_024,
  listBody: 4_096,
  listButton: 20,
  sections: 10,
  rows: 10,
  sectionTitle: 24,
  rowTitle: 24,
  rowDescription: 72,
  rowId: 200,
  ctaText: 20,
  headerText: 60,
  footer: 60,
} as const;

/** Validates reply buttons, lists and call-to-action links; for other kinds (flows, catalogues) only that there is a body. @returns the body text */
export function checkInteractive(content: JsonObject): string | undefined {
  const kind = asText(content['type']);
  const action = asObject(content['action']);
  if (kind === undefined) throw badParameter("The parameter interactive['type'] is required.");
  if (!action) throw badParameter("The parameter interactive['action'] is required.");
  const header = asObject(content['header']);
  if (header?.['type'] === 'text') requiredText(header['text'], "interactive['header']['text']", LIMITS.headerText);
  optionalText(asObject(content['footer'])?.['text'], "interactive['footer']['text']", LIMITS.footer);
  const body = asObject(content['body'])?.['text'];
  const bodyName = "interactive['body']['text']";
  switch (kind) {
    case 'button':
      checkButtons(action);
      return requiredText(body, bodyName, LIMITS.body);
    case 'list':
      checkList(action);
      return requiredText(body, bodyName, LIMITS.listBody);
    case 'cta_url':
      checkLink(action);
      return requiredText(body, bodyName, LIMITS.body);
    default:
      return optionalText(body, bodyName, LIMITS.body);
  }
}

function checkButtons(action: JsonObject): void {
  const buttons = asList(action['buttons']);
  const name = "interactive['action']['buttons']";
  if (buttons.length < 1 || buttons.length > LIMITS.buttons)
    throw graphError(131009, `Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: ${LIMITS.buttons}`);
  const titles = buttons.map((button, i) => {
    const reply = asObject(asObject(button)?.['reply']);
    requiredText(reply?.['id'], `${name}[${i}]['reply']['id']`, LIMITS.buttonId);
    return requiredText(reply?.['title'], `${name}[${i}]['reply']['title']`, LIMITS.buttonTitle);
  });
  if (new Set(titles).size < titles.length) throw graphError(131009, 'Button titles must be unique');
}

function checkList(action: JsonObject): void {
  requiredText(action['button'], "interactive['action']['button']", LIMITS.listButton);
  const sections = asList(action['sections']);
  if (sections.length < 1 || sections.length > LIMITS.sections)
    throw graphError(131009, `Invalid sections count. Max allowed: ${LIMITS.sections}`);
  let rows = 0;
  sections.forEach((section, s) => {
    const name = `interactive['action']['sections'][${s}]`;
    const fields = asObject(section);
    if (sections.length > 1) requiredText(fields?.['title'], `${name}['title']`, LIMITS.sectionTitle);
    else optionalText(fields?.['title'], `${name}['title']`, LIMITS.sectionTitle);
    asList(fields?.['rows']).forEach((row, r) => {
      rows += 1;
      const rowFields = asObject(row);
      requiredText(rowFields?.['id'], `${name}['rows'][${r}]['id']`, LIMITS.rowId);
      requiredText(rowFields?.['title'], `${name}['rows'][${r}]['title']`, LIMITS.rowTitle);
      optionalText(rowFields?.['description'], `${name}['rows'][${r}]['description']`, LIMITS.rowDescription);
    });
  });
  if (rows < 1 || rows > LIMITS.rows)
    throw graphError(131009, `Total row count exceed max allowed count: ${LIMITS.rows}`);
}

function checkLink(action: JsonObject): void {
  const parameters = asObject(action['parameters']);
  requiredText(parameters?.['display_text'], "interactive['action']['parameters']['display_text']", LIMITS.ctaText);
  requiredText(parameters?.['url'], "interactive['action']['parameters']['url']", 2_000);
}

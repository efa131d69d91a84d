import type { RootField } from './operations.ts';

/** A recipient and a content: those that contain the id, or such as can be sent. */
export function standSend(path: string, input: Record<string, unknown>): void {
  const [, place, kind = ''] = path.split('.');
  const chosen = (input[place ?? ''] ?? {}) as Record<string, Record<string, unknown>>;
  input['to'] = place === 'to' ? { [kind]: chosen[kind] } : { phone: '+4915188880001' };
  input['content'] = { text: { body: 'x' }, ...(place === 'content' && (input['content'] as object)) };
  standContent(place === 'content' ? path : 'input.content.text', input);
}

/** The one content that the path goes through. */
export function standContent(path: string, input: Record<string, unknown>): void {
  const kind = path.split('.')[2] ?? '';
  const chosen = (input['content'] as Record<string, unknown>)[kind];
  const beside = { media: { kind: 'IMAGE' }, template: { name: 'x', language: 'en' } }[kind];
  input['content'] = { [kind]: typeof chosen === 'object' ? { ...chosen, ...beside } : chosen };
}

/** What an id stands beside in the mutations of integrations: rows of our own, so that it is the id that is looked at. */
export function standIntegration(
  root: RootField,
  path: string,
  variables: Record<string, unknown>,
  ours: ReadonlyMap<string, string>,
): void {
  const input = (variables['input'] ?? {}) as Record<string, unknown>;
  if (path !== 'input.id' && 'id' in input)
    input['id'] = ours.get(root.name.endsWith('Mapping') ? 'IntegrationMapping' : 'Integration');
  if (path !== 'integrationId' && 'integrationId' in variables) variables['integrationId'] = ours.get('Integration');
  if (path !== 'input.integrationId' && 'integrationId' in input) input['integrationId'] = ours.get('Integration');
  const mapping = (root.name === 'createIntegration' ? input['mappings'] : input) as
    | Record<string, unknown>
    | undefined;
  if (mapping && root.name === 'createIntegration') mapping['name'] = 'Orders';
  if (mapping?.['template']) Object.assign(mapping['template'], { name: 'x', language: 'en' });
}

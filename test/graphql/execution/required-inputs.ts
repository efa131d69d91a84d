import type { RootField } from './operations.ts';

/** Completes a send with a recipient and a content, unless the tested id is in one of them. */
export function completeSend(path: string, input: Record<string, unknown>): void {
  const [, place, kind = ''] = path.split('.');
  const chosen = (input[place ?? ''] ?? {}) as Record<string, Record<string, unknown>>;
  input['to'] = place === 'to' ? { [kind]: chosen[kind] } : { phone: '+4915188880001' };
  input['content'] = { text: { body: 'x' }, ...(place === 'content' && (input['content'] as object)) };
  completeContent(place === 'content' ? path : 'input.content.text', input);
}

/** Reduces `content` to the kind on the path, with its required fields. */
export function completeContent(path: string, input: Record<string, unknown>): void {
  const kind = path.split('.')[2] ?? '';
  const chosen = (input['content'] as Record<string, unknown>)[kind];
  const required = { media: { kind: 'IMAGE' }, template: { name: 'x', language: 'en' } }[kind];
  input['content'] = { [kind]: typeof chosen === 'object' ? { ...chosen, ...required } : chosen };
}

/** Sets the other ids of an integration mutation to rows of our tenant, so that the result depends only on the tested id. */
export function completeIntegration(
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

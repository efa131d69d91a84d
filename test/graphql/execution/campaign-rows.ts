import { payloadOf } from '../../support/answers.ts';
import type { TestGateway, TestTenant } from '../../support/gateway.ts';

/** A list and a campaign of a tenant, whose template `theirs` is approved. @returns their ids by type */
export async function insertCampaign(
  gateway: TestGateway,
  { token }: TestTenant,
  contactId: string,
): Promise<readonly (readonly [string, string])[]> {
  const listInput = { name: 'Theirs', csv: 'phone\n+4915199990001' };
  const list = await gateway.mutate('createRecipientList', listInput, 'recipientList { databaseId }', token);
  const input = { name: 'Theirs', template: { name: 'theirs', language: 'en' }, audience: { contactIds: [contactId] } };
  const campaign = await gateway.mutate('createCampaign', input, 'campaign { databaseId }', token);
  return [
    ['RecipientList', payloadOf(list).recipientList.databaseId],
    ['Campaign', payloadOf(campaign).campaign.databaseId],
  ];
}

/** Completes a campaign with the inputs that it requires besides the tested id. */
export function completeCampaign(path: string, input: Record<string, unknown>): void {
  const [, place, kind = ''] = path.split('.');
  if ('csv' in input) input['csv'] = 'phone\n+4915199990007';
  if (!('name' in input)) return;
  input['template'] = { name: 'x', language: 'en', ...(place === 'template' && (input['template'] as object)) };
  const audience = (input['audience'] ?? {}) as Record<string, unknown>;
  input['audience'] = place === 'audience' ? { [kind]: audience[kind] } : { filter: {} };
}

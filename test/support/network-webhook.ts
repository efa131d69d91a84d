import { expect } from 'vitest';
import { sign } from '../../src/network/cloud-api/signature.ts';
import type { TestGateway, TestTenant } from './gateway.ts';

/** Posts a webhook with one change of a tenant's channel, signed as the network does. */
export async function postWebhook(
  gateway: TestGateway,
  tenant: TestTenant,
  value: object,
  field = 'messages',
): Promise<void> {
  const metadata = { display_phone_number: '15550780000', phone_number_id: tenant.phoneNumberId };
  const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } };
  await postRaw(gateway, { object: 'whatsapp_business_account', entry: [{ id: tenant.wabaId, changes: [change] }] });
}

/** Posts a webhook with any body. */
export async function postRaw(gateway: TestGateway, webhook: object): Promise<void> {
  const body = JSON.stringify(webhook);
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'x-hub-signature-256': sign(Buffer.from(body), 'test-app-secret') },
    body,
  });
  expect(answer.status).toBe(200);
}

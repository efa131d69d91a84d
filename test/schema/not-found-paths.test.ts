import { afterAll, beforeAll, expect, test } from 'vitest';
import { userErrorsOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const UNKNOWN = '987654321';
const NOWHERE = '0190a5d2-7c1e-7000-8000-000000000000';
const RECIPIENTS = 'resource.campaignRecipients.campaignId';
const since = '2026-01-01T00:00:00Z';
const components = [{ type: 'BODY', text: 'Hello' }];
const template = { name: 'order', language: 'en', category: 'UTILITY', components };
const session = { origins: [], documentsOnly: false };
const content = { text: { body: 'Hello' } };

test.each<[mutation: string, input: object, path: string]>([
  ['addContactsToGroup', { groupId: UNKNOWN, contactIds: ['1'] }, 'groupId'],
  ['removeContactsFromGroup', { groupId: 'x', contactIds: ['1'] }, 'groupId'],
  ['createIntegrationMapping', { integrationId: UNKNOWN, name: 'Orders' }, 'integrationId'],
  ['createExport', { resource: { campaignRecipients: { campaignId: UNKNOWN } } }, RECIPIENTS],
  ['createExport', { resource: { campaignRecipients: { campaignId: 'x' } } }, RECIPIENTS],
  ['createMediaUpload', { channelId: UNKNOWN }, 'channelId'],
  ['createStaffSession', { staffMember: { id: UNKNOWN }, ...session }, 'staffMember.id'],
  ['createStaffSession', { staffMember: { email: 'nobody@example.com' }, ...session }, 'staffMember.email'],
  ['createTemplate', { ...template, channelId: UNKNOWN }, 'channelId'],
  ['recordConsent', { contactId: UNKNOWN, category: 'ALL', state: 'OPTED_OUT' }, 'contactId'],
  ['recordConsent', { contactId: 'x', category: 'ALL', state: 'OPTED_OUT' }, 'contactId'],
  ['replayIntegrationDeliveries', { integrationId: UNKNOWN, since }, 'integrationId'],
  ['replayWebhookDeliveries', { endpointId: UNKNOWN, since }, 'endpointId'],
  ['replayWebhookDelivery', { id: NOWHERE, endpointId: 'x' }, 'endpointId'],
  ['replayWebhookDelivery', { id: NOWHERE, endpointId: UNKNOWN }, 'id'],
  ['resendOtp', { phone: newPhone(), templateName: 'login_code', channelId: UNKNOWN }, 'channelId'],
  ['sendOtp', { phone: newPhone(), templateName: 'login_code', channelId: UNKNOWN }, 'channelId'],
  ['sendMessage', { to: { contactId: UNKNOWN }, content }, 'to.contactId'],
  ['sendMessage', { to: { contactId: 'x' }, content }, 'to.contactId'],
  ['sendMessage', { to: { phone: newPhone() }, channelId: UNKNOWN, content }, 'channelId'],
  [
    'sendMessage',
    { to: { phone: newPhone() }, channelId: UNKNOWN, content: { template: { name: 'order', language: 'en' } } },
    'channelId',
  ],
  ['syncTemplates', { channelId: UNKNOWN }, 'channelId'],
  ['updateContact', { id: UNKNOWN, city: 'Rome' }, 'id'],
])('%s of %j names the field of the object that does not exist: %s', async (mutation, input, path) => {
  expect(userErrorsOf(await gateway.mutate(mutation, input, 'userErrors { path }'))).toMatchObject([
    { code: 'NOT_FOUND', path: path.split('.') },
  ]);
});

test('messages of a batch name the field of the contact or channel that does not exist, in GraphQL and REST', async () => {
  const phone = newPhone();
  const messages = [
    { to: { contactId: UNKNOWN }, content },
    { to: { phone }, channelId: UNKNOWN, content },
  ];
  const { data } = await gateway.mutate('sendMessages', { messages }, 'results { userErrors { code path } }');
  expect(data?.sendMessages.results).toEqual([
    { userErrors: [{ code: 'NOT_FOUND', path: ['messages', '0', 'to', 'contactId'] }] },
    { userErrors: [{ code: 'NOT_FOUND', path: ['messages', '1', 'channelId'] }] },
  ]);
  const response = await gateway.rest('POST', '/messages/batch', {
    messages: [
      { contact_id: UNKNOWN, message: 'Hello' },
      { phone, channel_id: UNKNOWN, message: 'Hello' },
    ],
  });
  expect(await response.json()).toMatchObject({
    errors: [
      { code: 'NOT_FOUND', errors: { contact_id: ['Contact not found.'] } },
      { code: 'NOT_FOUND', errors: { channel_id: ['Channel not found.'] } },
    ],
  });
});

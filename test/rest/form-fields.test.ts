import { afterAll, beforeAll, expect, test } from 'vitest';
import { JPEG } from '../features/messages/content/media/files.ts';
import { dataOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const FILE = new Blob([new Uint8Array(JPEG)]);

test.each<[string, [name: string, value: string | Blob][], string]>([
  ['a field', [['phone', newPhone()]], 'phone'],
  ['an empty field', [['phone', '']], 'phone'],
  [
    'a nested field',
    [
      ['contact[city]', 'Rome'],
      ['contact[city]', 'Rome'],
    ],
    'contact.city',
  ],
  [
    'a field below a text',
    [
      ['contact', 'x'],
      ['contact[city]', 'Rome'],
    ],
    'contact.city',
  ],
  [
    'a text above a field',
    [
      ['contact[city]', 'Rome'],
      ['contact', 'x'],
    ],
    'contact',
  ],
  [
    'a text beside a list',
    [
      ['contact[groups][]', '1'],
      ['contact[groups]', '2'],
    ],
    'contact.groups',
  ],
  [
    'a text beside a file',
    [
      ['media_file', FILE],
      ['media_file', 'x'],
    ],
    'media_file',
  ],
])('%s that a form has twice is refused: which one is meant is unknown', async (_what, parts, field) => {
  const form = new FormData();
  form.append('phone', newPhone());
  form.append('media_type', 'image');
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'photo.jpg');
  }
  if (field !== 'media_file') form.append('media_url', 'https://example.com/a.jpg');
  const response = await fetch(`${gateway.url}/api/v2/messages/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.tenant.token}` },
    body: form,
  });
  expect(response.status).toBe(422);
  const { error } = (await response.json()) as { error: { details: object } };
  expect(error.details).toEqual({ [field]: ['May be given only once.'] });
  expect(dataOf(await gateway.graphql('{ messages { totalCount } }')).messages.totalCount).toBe(0);
});

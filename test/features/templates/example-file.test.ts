import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, payloadOf, userErrorsOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type MediaClient, mediaOf } from '../messages/content/media/client.ts';
import { PDF, PNG } from '../messages/content/media/files.ts';

let gateway: TestGateway;
let media: MediaClient;
beforeAll(async () => {
  gateway = await startGateway();
  media = mediaOf(gateway);
});
afterAll(() => gateway.stop());

const create = (name: string, header: object) =>
  gateway.mutate(
    'createTemplate',
    {
      name,
      language: 'en_US',
      category: 'MARKETING',
      components: [
        { type: 'HEADER', ...header },
        { type: 'BODY', text: 'Look!' },
      ],
    },
    'template { header { format } raw }',
  );
const faultsOf = async (answer: ReturnType<typeof create>) =>
  userErrorsOf(await answer).map(({ path, code }) => [path.join('.'), code]);

describe('the header of a template', () => {
  test.each([
    ['IMAGE', PNG, 'image/png'],
    ['DOCUMENT', PDF, 'application/pdf'],
  ])('%s is submitted with an upload as its example', async (format, bytes, type) => {
    const id = await media.uploaded(bytes, { mimeType: type });
    const { template } = payloadOf(await create(`with_${format.toLowerCase()}`, { format, example: { media_id: id } }));
    expect(template.header.format).toBe(format);
    const [handle] = template.raw[0].example.header_handle;
    // The emulated network puts the type of the file it got, and the digest of its bytes, into the handle.
    expect(handle).toMatch(new RegExp(`^4::${Buffer.from(type).toString('base64')}:`));
    expect(template.raw[0].example).toEqual({ header_handle: [handle] });
    payloadOf(await gateway.mutate('syncTemplates', {}, 'totalCount'));
    const document = `{ templates(filter: { name: { eq: "with_${format.toLowerCase()}" } }) { nodes { raw } } }`;
    expect(dataOf(await gateway.graphql(document)).templates.nodes[0].raw).toEqual(template.raw);
  });

  test('is refused with every fault if its example is of another kind, unknown, or missing', async () => {
    const id = await media.uploaded(PDF);
    expect(await faultsOf(create('Wrong kind', { format: 'IMAGE', example: { media_id: id } }))).toEqual([
      ['components.0.example.media_id', 'INVALID'],
      ['name', 'INVALID'],
    ]);
    const unknown = { format: 'IMAGE', example: { media_id: '01890000-0000-7000-8000-000000000000' } };
    expect(await faultsOf(create('unknown', unknown))).toEqual([
      ['components.0.example.media_id', 'REFERENCE_NOT_FOUND'],
    ]);
    expect(await faultsOf(create('without', { format: 'VIDEO' }))).toEqual([['components.0.example', 'REQUIRED']]);
  });

  test('is refused by the network with a handle that it did not give', async () => {
    expect(await faultsOf(create('foreign', { format: 'IMAGE', example: { header_handle: ['4::x'] } }))).toEqual([
      ['components', 'NETWORK_REFUSED'],
    ]);
  });
});

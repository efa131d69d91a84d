import { z } from 'zod';
import { selectionOf } from '../openapi/schema.ts';
import { body, dropUndefined, id } from '../runtime/fields.ts';
import { type Route, requireRow, route } from '../runtime/route.ts';
import { GetTemplateByIdentifierDocument, SyncTemplatesDocument } from '../wire/documents.generated.ts';
import { TEMPLATE_OVERRIDES, templateList, templateRowBy } from '../wire/templates.ts';
import { time } from '../wire/values.ts';

const NETWORK_ID_LENGTH = 15;

export const templateRow = templateRowBy(time);

export const templateRoutes: readonly Route[] = [
  templateList(templateRow),
  route({
    method: 'GET',
    path: '/templates/:id',
    resource: 'Template',
    idKind: 'network',
    document: GetTemplateByIdentifierDocument,
    params: {
      id: z
        .string()
        .regex(/^[0-9]+$/)
        .describe('Id of the template on the network or in this gateway.'),
    },
    answer: selectionOf('template', TEMPLATE_OVERRIDES),
    // The network's ids have at least fifteen digits; ours have fewer.
    variables: ({ id }) => ({ identifier: id.length < NETWORK_ID_LENGTH ? { id } : { networkId: id } }),
    respond: ({ template }) => ({ message: 'Template', data: templateRow(requireRow(template, 'Template')) }),
  }),
  route({
    method: 'POST',
    path: '/templates/sync',
    document: SyncTemplatesDocument,
    notes:
      'Reads the templates of all business accounts of the tenant from the network, or of the account of one channel.',
    body: body({
      channel_id: id({ description: 'Channel of the business account. Default: all accounts of the tenant.' }),
    }),
    example: { channel_id: 1 },
    answer: selectionOf('result', { without: ['userErrors'] }),
    errors: ['NOT_FOUND', 'MESSAGING_NOT_CONFIGURED', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
    variables: ({ call, body: { channel_id } }) => ({
      input: dropUndefined({ channelId: channel_id, idempotencyKey: call.idempotencyKey }),
    }),
    respond: ({ result: { created, updated, removed, unchanged, total } }) => ({
      message: 'Templates synchronised',
      data: { created, updated, removed, unchanged, total },
    }),
  }),
];

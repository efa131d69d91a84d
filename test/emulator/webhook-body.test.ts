import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Update } from '../../src/emulator/update.ts';
import { type Grouping, webhookBody } from '../../src/emulator/webhook-body.ts';
import { sign, verifySignature } from '../../src/network/cloud-api/signature.ts';
import { NUMBER } from '../network/network.ts';
import { parseWebhook } from '../network/parse.ts';

const unicode = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const wabaId = fc.constantFrom('1', '2', '3');
const phoneNumberId = fc.constantFrom('11', '12');

const anyUpdate = fc.oneof(
  fc.record({ wabaId, phoneNumberId, text: unicode, id: fc.uuid() }).map(
    ({ text, id, ...where }, seq = 0): Update => ({
      kind: 'message',
      seq,
      ...where,
      message: { id, from: '1', timestamp: '1750000000', type: 'text', text: { body: text } },
      contact: { wa_id: '1', profile: { name: text } },
    }),
  ),
  fc
    .record({
      wabaId,
      phoneNumberId,
      callbackData: unicode,
      wamid: fc.uuid(),
      status: fc.constantFrom('sent', 'read', 'failed'),
    })
    .map(
      ({ status, ...message }): Update => ({
        kind: 'status',
        seq: 0,
        at: 1_750_000_000_000,
        status: status as 'sent',
        error: status === 'failed' ? { code: 131026 } : undefined,
        message: {
          ...message,
          to: '+1',
          waId: '1',
          userId: 'US.1',
          type: 'text',
          body: 'x',
          content: {},
          category: 'service',
          seq: 0,
          at: 1,
        },
      }),
    ),
);

/** The parsed form of an update. */
const essence = (update: Update) =>
  update.kind === 'status'
    ? `${update.message.wamid} ${update.status} ${update.message.callbackData}`
    : update.kind === 'message'
      ? `${String(update.message['id'])} ${JSON.stringify(update.message['text'])}`
      : '';

describe('a webhook body', () => {
  test('of arbitrary updates in any grouping is ASCII, has a valid signature, and parses back to the same updates', () => {
    const groupings = fc.constantFrom<Grouping>('grouped', 'spread', 'single');
    fc.assert(
      fc.property(fc.array(anyUpdate, { minLength: 1, maxLength: 12 }), groupings, (updates, grouping) => {
        const body = webhookBody(updates, { grouping, escape: true, userIds: true, number: () => NUMBER });
        expect(body.every(byte => byte < 0x80)).toBe(true);
        expect(body.toString()).not.toMatch(/[^\\]\//);
        expect(verifySignature(body, sign(body, 's'), ['s'])).toBe(true);
        const read = parseWebhook(JSON.parse(body.toString())).map(update => {
          if (update.kind === 'status') return `${update.wamid} ${update.status} ${update.callbackData}`;
          return update.kind === 'message' ? `${update.wamid} ${JSON.stringify({ body: update.text })}` : '';
        });
        expect(read.toSorted()).toEqual(updates.map(essence).toSorted());
      }),
    );
  });
});

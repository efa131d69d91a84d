import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { channelsOfAddress } from '../../../src/network/cloud-api/webhook/address.ts';
import { changesOf } from '../../../src/network/cloud-api/webhook/changes.ts';
import { readWebhook } from '../../../src/network/cloud-api/webhook.ts';
import type { NetworkUpdate } from '../../../src/network/updates.ts';
import { ARRIVED_AT, parseWebhook } from '../parse.ts';
import { BODIES, bodyOf, VALUES } from './bodies.ts';

const kindsOf = (field: string): string[][] =>
  (VALUES[field] ?? []).map(value => parseWebhook(bodyOf(field, value)).map(update => update.kind));

test.each([
  [
    'messages',
    [
      ['message'],
      ['edit', 'revoke', 'message', 'message', 'message'],
      ['identity_change', 'message'],
      ['status', 'unhandled'],
      ['unhandled'],
      ['health'],
    ],
  ],
  ['smb_message_echoes', [['echo', 'revoke']]],
  ['history', [['history_progress', 'past_message', 'past_message'], ['history_progress'], ['past_message']]],
  ['calls', [['call', 'call'], ['call']]],
  ['standby', [['message', 'echo']]],
  ['messaging_handovers', [['handover']]],
  ['group_lifecycle_update', [['group']]],
  ['group_participants_update', [['group']]],
  ['group_settings_update', [['group']]],
  ['user_preferences', [['preference']]],
  ['user_id_update', [['identity_change']]],
  ['automatic_events', [['unhandled']]],
  ['smb_app_state_sync', [['unhandled']]],
  ['phone_number_quality_update', [['health']]],
  ['phone_number_name_update', [['health']]],
  ['security', [['health']]],
  ['business_username_updates', [['health']]],
  ['account_review_update', [['health']]],
  ['business_capability_update', [['health']]],
  ['account_settings_update', [['health']]],
  ['account_alerts', [['health']]],
  ['account_update', [['health'], ['health'], ['health', 'portfolio'], ['health']]],
  ['message_template_status_update', [['template']]],
  ['partner_solutions', [['unhandled']]],
  ['payment_configuration_update', [['unhandled']]],
  ['novelty', [['unhandled']]],
])('readWebhook reads the field %s as %j', (field, kinds) => {
  expect(kindsOf(field)).toEqual(kinds);
});

describe('channelsOfAddress', () => {
  const ours = { phoneNumberId: '106', wabaId: '419', portfolioId: '700', displayPhoneNumber: '+1 555-078-3881' };
  const sibling = { phoneNumberId: '107', wabaId: '419', portfolioId: '700', displayPhoneNumber: '15550783882' };
  const stranger = { phoneNumberId: '108', wabaId: '420', portfolioId: '700', displayPhoneNumber: '15550783883' };
  const foreign = { phoneNumberId: '109', wabaId: '421', portfolioId: null, displayPhoneNumber: '15550783884' };
  const places = [ours, sibling, stranger, foreign];
  const concerned = (field: string, value: unknown, entryId?: string) =>
    changesOf(bodyOf(field, value, entryId)).map(({ address }) => channelsOfAddress(address, places));
  const first = (field: string): object => VALUES[field]?.[0] ?? {};

  test('finds a number by its id, in all formats of a change', () => {
    for (const field of [
      'messages',
      'calls',
      'history',
      'messaging_handovers',
      'account_settings_update',
      'account_alerts',
      'novelty',
    ])
      expect([field, concerned(field, first(field))]).toEqual([field, [[ours]]]);
  });

  test('finds a number by its display number within its account', () => {
    for (const field of [
      'phone_number_quality_update',
      'phone_number_name_update',
      'security',
      'business_username_updates',
    ])
      expect([field, concerned(field, first(field))]).toEqual([field, [[ours]]]);
    expect(concerned('security', first('security'), '420')).toEqual([[]]);
  });

  test('finds all numbers of an account', () => {
    expect(concerned('account_review_update', first('account_review_update'))).toEqual([[ours, sibling]]);
  });

  test('uses the account in the value if the entry names a portfolio', () => {
    expect(concerned('account_update', { event: 'PARTNER_ADDED', waba_info: { waba_id: '420' } }, '777')).toEqual([
      [stranger],
    ]);
    expect(concerned('partner_solutions', first('partner_solutions'), '777')).toEqual([[]]);
  });

  test('finds all numbers of a portfolio, or those of the account if no channel has the portfolio', () => {
    const alert = (entityId: string, entryId: string) =>
      concerned('account_alerts', { entity_type: 'BUSINESS', entity_id: entityId, alert_info: {} }, entryId);
    expect(alert('700', '419')).toEqual([[ours, sibling, stranger]]);
    expect(alert('700', '421')).toEqual([[ours, sibling, stranger]]);
    expect(alert('701', '421')).toEqual([[foreign]]);
    expect(concerned('partner_solutions', first('partner_solutions'), '700')).toEqual([[ours, sibling, stranger]]);
  });

  test('finds none for an unconnected number of a known account', () => {
    expect(concerned('messages', { metadata: { phone_number_id: '999' } })).toEqual([[]]);
  });
});

describe('a message', () => {
  const parse = (message: object, contact: object = { wa_id: '49151', user_id: 'DE.1' }) =>
    parseWebhook(
      bodyOf('messages', {
        metadata: { phone_number_id: '106' },
        contacts: [contact],
        messages: [
          { from: '49151', id: 'wamid.1', timestamp: '1790000000', type: 'text', text: { body: 'Hi' }, ...message },
        ],
      }),
    )[0];

  test('keeps its origin: forwarded, ad, product, group, changed security code', () => {
    const referral = {
      source_type: 'ad',
      source_id: '1',
      source_url: 'https://fb.me/1',
      headline: 'Sale',
      body: 'Now',
      media_type: 'video',
      video_url: 'https://v',
      ctwa_clid: 'clid',
    };
    expect(parse({ context: { forwarded: true } })).toMatchObject({ forwarding: 'forwarded', replyTo: undefined });
    expect(parse({ context: { frequently_forwarded: true } })).toMatchObject({ forwarding: 'frequently_forwarded' });
    expect(parse({ referral })).toMatchObject({
      referral: { source_type: 'ad', click_id: 'clid', media_url: 'https://v', ref: null },
    });
    expect(
      parse({ context: { id: 'wamid.0', referred_product: { catalog_id: '2', product_retailer_id: 'sku' } } }),
    ).toMatchObject({
      replyTo: 'wamid.0',
      referredProduct: { catalogId: '2', productId: 'sku' },
    });
    expect(parse({ group_id: 'G1' })).toMatchObject({ groupId: 'G1' });
    expect(parse({}, { wa_id: '49151', identity_key_hash: 'h', profile: { username: 'ana' } })).toMatchObject({
      identityHash: 'h',
      username: 'ana',
    });
  });

  test('of a Flow contains the parsed answers in addition to the network’s text', () => {
    const nfm_reply = { name: 'flow', body: 'Sent', response_json: '{"flow_token":"t","size":"L"}' };
    expect(parse({ type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply } })).toMatchObject({
      content: { nfm_reply: { ...nfm_reply, answers: { flow_token: 't', size: 'L' } } },
    });
    const broken = { ...nfm_reply, response_json: '{' };
    expect(parse({ type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: broken } })).toMatchObject({
      content: { nfm_reply: broken },
    });
  });

  test('an edit and a revocation refer to their message; without a reference they are unhandled', () => {
    const edit = { original_message_id: 'wamid.0', message: { type: 'image', image: { caption: 'New' } } };
    expect(parse({ type: 'edit', edit })).toMatchObject({
      kind: 'edit',
      originalWamid: 'wamid.0',
      type: 'image',
      text: 'New',
    });
    expect(parse({ type: 'revoke', revoke: { original_message_id: 'wamid.0' } })).toMatchObject({ kind: 'revoke' });
    expect(parse({ type: 'edit', edit: {} })).toMatchObject({ kind: 'unhandled' });
    expect(parse({ type: 'revoke' })).toMatchObject({ kind: 'unhandled' });
  });

  test('keeps fields next to its content, such as a changed identity or the kind of unsupported content', () => {
    const system = { body: 'Security code changed', type: 'customer_identity_changed' };
    expect(parse({ type: 'system', system, identity: { hash: 'h2' } })).toMatchObject({
      content: { ...system, identity: { hash: 'h2' } },
    });
    expect(parse({ type: 'unsupported', unsupported: { type: 'poll_update' } })).toMatchObject({
      content: { type: 'poll_update' },
    });
  });

  test('without a sender is unhandled', () => {
    expect(parse({ from: undefined }, {})).toMatchObject({ kind: 'unhandled', reason: 'unreadable' });
  });
});

/** The values of the changes that are kept because no reader knows them. */
const keptValues = (field: string, value: object) =>
  parseWebhook(bodyOf(field, { metadata: { phone_number_id: '1' }, ...value })).flatMap(update =>
    update.kind === 'unhandled' ? [(update.raw as { changes: { value: unknown }[] }).changes[0]?.value] : [],
  );

test('a list that no reader knows is kept by element, in the form in which it can be read again', () => {
  const unknown = { user_actions: [{ click_id: 'a' }, { click_id: 'b' }], mood: { is: 'good' } };
  const kept = [{ user_actions: [{ click_id: 'a' }] }, { user_actions: [{ click_id: 'b' }] }, { mood: { is: 'good' } }];
  expect(keptValues('messages', unknown)).toMatchObject(kept);
  expect(keptValues('standby', { standby: unknown })).toMatchObject(kept.map(standby => ({ standby })));
});

test('an unreadable part is kept with its contact: the only one, or the one that it names', () => {
  const ana = { wa_id: '14155550101', profile: { name: 'Ana' } };
  const bob = { wa_id: '14155550102', user_id: 'US.2', profile: { name: 'Bob' } };
  const broken = { from_user_id: 'US.2', type: 'text' };
  expect(keptValues('messages', { contacts: [ana], messages: [broken, 7] })).toMatchObject([
    { contacts: [ana], messages: [broken] },
    { contacts: [ana], messages: [7] },
  ]);
  expect(keptValues('messages', { contacts: [ana, bob], messages: [broken, 7] })).toEqual([
    expect.objectContaining({ contacts: [bob], messages: [broken] }),
    expect.not.objectContaining({ contacts: expect.anything() }),
  ]);
  expect(keptValues('standby', { standby: { contacts: [ana, bob], messages: [broken] } })).toMatchObject([
    { standby: { contacts: [bob], messages: [broken] } },
  ]);
});

test('what should be a list and is none is kept beside the lists that are read', () => {
  const statuses = [{ id: 'wamid.A', status: 'sent', timestamp: '1750000000', recipient_id: '14155550101' }];
  const messages = { from: '14155550101', id: 'wamid.B', type: 'text' };
  expect(keptValues('messages', { statuses, messages, contacts: null })).toMatchObject([{ messages }]);
  expect(keptValues('standby', { standby: { statuses, messages } })).toMatchObject([{ standby: { messages } }]);
  expect(keptValues('calls', { calls: [], errors: 'none', statuses: {} })).toMatchObject([
    { errors: 'none' },
    { statuses: {} },
  ]);
  const history = [{ metadata: { phase: 1 }, threads: {} }];
  expect(keptValues('history', { history })).toMatchObject([{ history }]);
});

/** Lists of a change whose elements each contain information. */
const LISTS = ['messages', 'statuses', 'message_echoes', 'calls', 'groups', 'user_preferences', 'user_id_update'];

test('every list element of a mutated recorded body yields an update', () => {
  fc.assert(
    fc.property(fc.constantFrom(...BODIES), mutation(), ({ body }, mutate) => {
      const mutated = mutate(structuredClone(body));
      const changes = readWebhook(mutated, ARRIVED_AT);
      expect(changes).toHaveLength(changesOf(mutated).length);
      for (const { updates, field, raw } of changes) {
        expect(updates.length).toBeGreaterThan(0);
        const value = (raw as { changes?: { value?: Record<string, unknown> }[] })?.changes?.[0]?.value;
        if (isWhole(updates) || typeof value !== 'object' || value === null) continue;
        const elements = LISTS.flatMap(list => (Array.isArray(value[list]) ? value[list] : []));
        if (field !== 'standby' && field !== 'history') expect(updates.length).toBeGreaterThanOrEqual(elements.length);
      }
    }),
    { numRuns: 2_000 },
  );
});

/** Whether the change is unhandled as a whole. */
const isWhole = (updates: readonly NetworkUpdate[]): boolean =>
  updates.length === 1 && updates[0]?.kind === 'unhandled';

/** Replaces or removes a value somewhere in a body. */
function mutation(): fc.Arbitrary<(body: unknown) => unknown> {
  const step = fc.tuple(fc.array(fc.nat({ max: 50 }), { maxLength: 9 }), fc.option(fc.jsonValue({ maxDepth: 2 })));
  return fc
    .array(step, { maxLength: 3 })
    .map(steps => body => steps.reduce((part, [path, by]) => changed(part, path, by), body));
}

function changed(part: unknown, [step, ...rest]: readonly number[], by: unknown): unknown {
  if (step === undefined || typeof part !== 'object' || part === null) return step === undefined ? by : part;
  const keys = Object.keys(part);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return part;
  const inner = changed((part as Record<string, unknown>)[key], rest, by);
  if (Array.isArray(part)) return part.map((element, index) => (String(index) === key ? inner : element));
  return { ...part, [key]: inner };
}

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAuditEntries } from '../../../../src/features/tenancy/audit/store.ts';
import { Session } from '../../../cli/program.ts';
import { findPersonalData } from '../../../support/personal-data.ts';
import { markersOf, type PrivacyFixture, startPrivacyFixture, WILHELMINE } from './person.ts';
import { plant } from './plant.ts';

const UUID = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

let fixture: PrivacyFixture;
let session: Session;
let directory: string;
let id: number;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-export-'));
  session = new Session();
  fixture = await startPrivacyFixture();
  id = await plant(fixture, WILHELMINE);
});
afterAll(async () => {
  session.child.kill('SIGKILL');
  await fixture.stop();
  await rm(directory, { recursive: true, force: true });
});

const parley = (...args: string[]) =>
  session.run(directory, args, {
    DATABASE_URL: fixture.gateway.database.url,
    PARLEY_SECRET_KEY: fixture.gateway.secretKey,
  });

test('parley contact export writes all data about a person to one file, with an audit entry', async () => {
  const { slug, id: tenantId } = fixture.gateway.tenant;
  const { code, output } = await parley('contact', 'export', slug, WILHELMINE.phone, '--out', 'person.json');
  expect([code, output]).toEqual([0, expect.stringContaining(`Contact ${id} written to person.json`)]);
  const text = await readFile(join(directory, 'person.json'), 'utf8');
  const file = JSON.parse(text) as Record<string, Record<string, unknown>[]>;
  const expected = {
    contact: { id, firstname: WILHELMINE.firstName, email: WILHELMINE.email },
    identities: expect.arrayContaining([expect.objectContaining({ kind: 'user_id', value: WILHELMINE.userId })]),
    consents: expect.arrayContaining([expect.objectContaining({ category: 'all', state: 'opted_out' })]),
    groups: [expect.objectContaining({ name: expect.stringMatching(/^Group of/) })],
    conversations: [expect.any(Object)],
    one_time_passwords: [expect.any(Object), expect.any(Object)],
    orders: [expect.any(Object), expect.any(Object)],
    merges: [expect.objectContaining({ snapshot: expect.objectContaining({ phone: WILHELMINE.formerPhone }) })],
    thread_owners: [expect.objectContaining({ summary: WILHELMINE.word })],
    group_chats: expect.arrayContaining([expect.objectContaining({ is_member: true })]),
    message_edits: expect.arrayContaining([
      expect.objectContaining({ kind: 'edit', body: `Right ${WILHELMINE.word}` }),
      expect.objectContaining({ kind: 'revoke' }),
    ]),
    message_reactions: expect.arrayContaining([expect.objectContaining({ emoji: '🎉' })]),
    message_details: expect.arrayContaining([
      expect.objectContaining({ origin: 'phone_app' }),
      expect.objectContaining({ origin: 'history' }),
      expect.objectContaining({ referral: expect.objectContaining({ headline: WILHELMINE.word }) }),
    ]),
  };
  // One by one: what differs would otherwise be shown as the whole file.
  for (const [section, rows] of Object.entries(expected))
    expect({ [section]: file[section] }).toMatchObject({ [section]: rows });
  const directions = new Set((file['messages'] ?? []).map(message => message['direction']));
  expect(directions).toEqual(new Set(['inbound', 'outbound']));
  for (const section of ['events', 'webhook_deliveries', 'bot_replies'])
    expect(file[section]?.length, section).toBeGreaterThan(0);
  // Ids are random: six digits of a code may stand in one by chance.
  const withoutIds = text.replace(UUID, 'an id');
  for (const secret of ['271828', '"mac"', 'fingerprint']) expect(withoutIds).not.toContain(secret);
  const [entry] = await listAuditEntries(fixture.gateway.gateway.resources.db.read, tenantId, 1);
  expect(entry).toMatchObject({
    action: 'contact.exported',
    subject: `contact:${id}`,
    author: { name: 'command line' },
  });
});

test('parley contact erase prints the receipt, and the person cannot be found afterwards', async () => {
  const { slug } = fixture.gateway.tenant;
  const missing = await parley('contact', 'erase', slug, '+4915100000099', '--reason', 'subject_request');
  expect([missing.code, missing.output]).toEqual([1, expect.stringContaining('has no contact +4915100000099')]);
  const { code, output } = await parley('contact', 'erase', slug, WILHELMINE.phone, '--reason', 'subject_request');
  expect(code).toBe(0);
  expect(JSON.parse(output)).toMatchObject({
    contact_id: id,
    reason: 'subject_request',
    completed_at: expect.any(String),
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
    erased: expect.arrayContaining([{ kind: 'contact', count: 1, reason: null }]),
  });
  await fixture.settled();
  expect(await findPersonalData(fixture.gateway.database, markersOf(WILHELMINE))).toEqual([]);
  const again = await parley('contact', 'erase', slug, String(id), '--reason', 'other');
  expect(again.code).toBe(1);
});

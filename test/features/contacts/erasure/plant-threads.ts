import { mergeContacts } from '../../../../src/features/contacts/merging/merge.ts';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import { eventually } from '../../../support/gateway.ts';
import { postRaw } from '../../../support/network-webhook.ts';
import type { Person, PrivacyFixture } from './person.ts';

const BUSINESS = '15550780000';
const stamp = (secondsAgo = 0): string => String(Math.floor(Date.now() / 1_000) - secondsAgo);
const text = (body: string) => ({ type: 'text', text: { body } });

/** What the network tells of a person besides messages: corrections, reactions, group chats, the phone app, history, calls. */
export async function plantThreads(fixture: PrivacyFixture, person: Person): Promise<void> {
  const { phone, digits, userId, firstName, word } = person;
  const { emulator, tenant } = fixture.gateway;
  const id = (salt: string): string =>
    `wamid.${Buffer.from(`\x1c\x18\x0d${digits}\x15\x02\x00${salt}`).toString('base64')}`;
  const from = { from: phone, userId, profileName: firstName, phoneNumberId: tenant.phoneNumberId };
  const wrong = emulator.inbound({
    ...from,
    text: `Wrong ${word}`,
    referral: { source_type: 'ad', source_url: `https://ads.example/${word}`, headline: word },
  });
  const regretted = emulator.inbound({ ...from, text: `Regretted ${word}` });
  await fixture.settled();
  emulator.inbound({ ...from, type: 'edit', messageId: wrong, text: `Right ${word}` });
  emulator.inbound({ ...from, type: 'revoke', messageId: regretted });
  emulator.inbound({ ...from, type: 'reaction', messageId: wrong, emoji: '🎉' });
  // Of messages that never come.
  emulator.inbound({ ...from, type: 'edit', messageId: id('unknown'), text: `Never ${word}` });
  emulator.inbound({ ...from, type: 'reaction', messageId: id('unseen'), emoji: '🎉' });
  emulator.inbound({ ...from, text: `All hear ${word}`, groupId: 'G-erase' });
  await fixture.webhook(
    {
      groups: [
        {
          timestamp: stamp(),
          group_id: 'G-erase',
          type: 'group_add_participants',
          added_participants: [{ wa_id: digits }, { wa_id: '4915100000001' }],
        },
      ],
    },
    'group_participants_update',
  );
  const echo = (salt: string, more: object) => ({
    from: BUSINESS,
    to: digits,
    id: id(salt),
    timestamp: stamp(),
    ...more,
  });
  await fixture.webhook({ message_echoes: [echo('echo', text(`Echo ${word}`))] }, 'smb_message_echoes');
  const corrected = { original_message_id: id('echo'), message: text(`Edited echo ${word}`) };
  await fixture.webhook({ message_echoes: [echo('edit', { type: 'edit', edit: corrected })] }, 'smb_message_echoes');
  const past = { from: digits, id: id('past'), timestamp: stamp(86_400), ...text(`Past ${word}`) };
  const thread = { id: digits, context: { wa_id: digits }, messages: [past] };
  await fixture.webhook(
    { history: [{ metadata: { phase: 0, chunk_order: 1, progress: 50 }, threads: [thread] }] },
    'history',
  );
  const call = { id: `wacid.${word}`, event: 'connect', direction: 'USER_INITIATED', from: digits, timestamp: stamp() };
  await fixture.webhook({ calls: [call] }, 'calls');
  const sender = { sender: { phone_number: phone }, recipient: { phone_number_id: tenant.phoneNumberId } };
  await fixture.webhook(
    {
      ...sender,
      type: 'control_taken',
      timestamp: stamp(),
      control_taken: {
        previous_owner_role: 'marketing',
        new_owner_role: 'ai_agent',
        conversation_context: { summary: { text: word } },
      },
    },
    'messaging_handovers',
  );
  // The same person writes to a number that nobody has connected, and something in no known shape comes.
  const metadata = { display_phone_number: BUSINESS, phone_number_id: '999000111' };
  const contacts = [{ profile: { name: firstName }, wa_id: digits }];
  const strayed = { from: digits, id: id('strayed'), timestamp: stamp(), ...text(`Strayed ${word}`) };
  const value = { messaging_product: 'whatsapp', metadata, contacts, messages: [strayed] };
  await postRaw(fixture.gateway, {
    object: 'whatsapp_business_account',
    entry: [{ id: '888000111', changes: [{ field: 'messages', value }] }],
  });
  await fixture.settled();
  await eventually(async () => {
    const rows = await fixture.gateway.database.query('select 1 from unrouted_changes');
    if (rows.length === 0) throw new Error('The webhook of the unknown number is not stored yet.');
  });
}

/** A contact of the same person, of another number and another name, merged into the first: it can be undone. */
export async function plantMerge(fixture: PrivacyFixture, person: Person, survivorId: number): Promise<void> {
  const { word, email } = person;
  const former = { phone: person.formerPhone, firstName: word, email: `former.${email}` };
  const {
    createContact: { contact: createContact },
  } = await fixture.ask(
    'mutation ($input: CreateContactInput!) { createContact(input: $input) { contact { databaseId } } }',
    { input: former },
  );
  const formerId = Number(createContact.databaseId);
  await fixture.ask(
    'mutation ($to: String!, $text: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: $text } } }) { message { id } userErrors { code message path } } }',
    {
      to: person.formerPhone,
      text: `Before the merge ${word}`,
    },
  );
  const { emulator, gateway, tenant } = fixture.gateway;
  const from = { from: person.formerPhone, phoneNumberId: tenant.phoneNumberId };
  const wrong = emulator.inbound({ ...from, text: `Wrong before ${word}` });
  emulator.inbound({ ...from, type: 'edit', messageId: wrong, text: `Right before ${word}` });
  await fixture.settled();
  await gateway.resources.db.transaction(trx =>
    mergeContacts(trx, fixture.gateway.tenant.id, {
      survivorId,
      ids: [survivorId, formerId],
      reason: 'manual',
      author: COMMAND_LINE,
      nowMs: Date.now(),
    }),
  );
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_AGE_MS } from '../../../../src/features/bots/engine/decide.ts';
import { HOUR, MINUTE, SECOND } from '../../../../src/platform/clock.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { type Fixture, type Owner, startFixture } from '../fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

const text = (words: string) => ({ text: { text: words } });
const word = (keyword: string, reply: string, more: object = {}) => ({
  trigger: 'EXACT',
  keywords: [keyword],
  reply: text(reply),
  ...more,
});
const BOTS = '{ bots { nodes { databaseId repliesCount lastRepliedAt } } }';
const SEND =
  'mutation ($to: String!, $text: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: $text } } }) { message { id } userErrors { code message path } } }';

describe('a reply', () => {
  test('is sent from the number that was written to, quotes the message, and causes one event', async () => {
    const owner = await fixture.tenant();
    const person = newPhone();
    const id = await owner.bot({
      ...word('Price', 'It costs 5, @{contact_first_name}.'),
      name: 'Prices',
      trigger: 'CONTAINS',
    });
    const wamid = await owner.hears(person, { text: 'what is the  PRICE?', profileName: 'Ana' });
    expect(await owner.answers(person, 1)).toEqual(['It costs 5, Ana.']);
    const [reply] = await owner.replies();
    expect(reply).toMatchObject({ bot_id: String(id), state: 'sent', attempts: 1, bot: null, next_attempt_at: null });
    const [event, ...others] = await owner.events();
    expect(others).toEqual([]);
    expect(event?.payload).toMatchObject({
      bot: { id, name: 'Prices', trigger: 'contains', reply: { text: { text: 'It costs 5, @{contact_first_name}.' } } },
      rule: { trigger: 'contains', keyword: 'Price' },
      chat_message_id: reply?.message_id,
      reply_chat_message_id: reply?.reply_message_id,
    });
    const message = `query ($id: ID!) { message(id: $id) { text replyToWamid replyTo { databaseId } contactId sentBy { kind displayName actor { __typename displayName } } } }`;
    expect(dataOf(await owner.ask(message, { id: reply?.reply_message_id })).message).toEqual({
      text: 'It costs 5, Ana.',
      replyToWamid: wamid,
      replyTo: { databaseId: reply?.message_id },
      contactId: String(event?.payload['contact_id']),
      sentBy: { kind: 'BOT', displayName: 'Prices', actor: { __typename: 'Bot', displayName: 'Prices' } },
    });
    const [bot] = dataOf(await owner.ask(BOTS)).bots.nodes;
    expect(bot).toEqual({ databaseId: String(id), repliesCount: 1, lastRepliedAt: expect.any(String) });
  });

  test('is a text, buttons, a list, a file or a template, as the bot says', async () => {
    const owner = await fixture.tenant({ templates: true });
    const person = newPhone();
    await owner.bot(
      word('buttons', '', { reply: { interactive: { body: 'Which?', buttons: [{ replyId: 'b1', title: 'One' }] } } }),
    );
    const list = { button: 'Open', sections: [{ rows: [{ replyId: 'r1', title: 'Row' }] }] };
    await owner.bot(word('list', '', { reply: { interactive: { body: 'Choose.', footer: 'Or not', list } } }));
    const media = { kind: 'IMAGE', link: 'https://example.com/a.png', caption: 'For @{contact_first_name}' };
    await owner.bot(word('image', '', { reply: { media } }));
    const template = { name: 'order', language: 'en', body: ['@{contact_first_name}', '17'] };
    await owner.bot(word('order', '', { reply: { template } }));
    for (const [index, what] of ['buttons', 'list', 'image', 'order'].entries()) {
      await owner.hears(person, { text: what, profileName: 'Ana' });
      await owner.answers(person, index + 1);
    }
    const { messages } = fixture.gateway.emulator.sent({ to: person });
    expect(messages.map(({ type, content }) => [type, content])).toMatchObject([
      ['interactive', { type: 'button', action: { buttons: [{ type: 'reply', reply: { id: 'b1', title: 'One' } }] } }],
      ['interactive', { type: 'list', footer: { text: 'Or not' }, action: { button: 'Open' } }],
      ['image', { link: 'https://example.com/a.png', caption: 'For Ana' }],
      ['template', { name: 'order', components: [{ parameters: [{ text: 'Ana' }, { text: '17' }] }] }],
    ]);
  });

  test('matches button titles and ids and captions, but not reactions and system messages', async () => {
    const owner = await fixture.tenant();
    await owner.bot({ ...word('more', 'By title'), priority: 2 });
    await owner.bot({ ...word('payload_7', 'By id'), priority: 1 });
    await owner.bot({ trigger: 'CONTAINS', keywords: ['sofa'], reply: text('By caption') });
    const [button, row, caption, other] = [newPhone(), newPhone(), newPhone(), newPhone()];
    await owner.hears(button, { type: 'interactive', buttonReply: { id: 'x', title: 'More' } });
    await owner.hears(row, { type: 'interactive', listReply: { id: 'payload_7', title: 'Seven' } });
    await owner.hears(caption, { type: 'image', caption: 'My old Sofa' });
    await owner.bot({ trigger: 'ANY', priority: -1, reply: text('Anything') });
    await owner.hears(other, { type: 'reaction', messageId: 'wamid.x', emoji: '👍' });
    await owner.hears(other, { type: 'system', newPhone: newPhone() });
    expect(await owner.answers(button, 1)).toEqual(['By title']);
    expect(await owner.answers(row, 1)).toEqual(['By id']);
    expect(await owner.answers(caption, 1)).toEqual(['By caption']);
    expect(await owner.answers(other, 0)).toEqual([]);
  });
});

describe('of several bots that match', () => {
  test('the one with the highest priority answers alone, and of equal ones the oldest', async () => {
    const owner = await fixture.tenant();
    await owner.bot(word('hi', 'second'));
    await owner.bot(word('hi', 'third'));
    const first = await owner.bot(word('hi', 'first', { priority: 5 }));
    const [ana, bo] = [newPhone(), newPhone()];
    await owner.hears(ana, 'hi');
    expect(await owner.answers(ana, 1)).toEqual(['first']);
    await fixture.gateway.mutate('deleteBot', { id: String(first) }, 'deletedId', owner.token);
    await owner.hears(bo, 'hi');
    expect(await owner.answers(bo, 1)).toEqual(['second']);
    expect(await owner.replies()).toHaveLength(2);
  });

  test('others answer too, in order, if the previous one allows it', async () => {
    const owner = await fixture.tenant();
    await owner.bot(word('hi', 'three', { priority: 1 }));
    await owner.bot(word('hi', 'one', { priority: 3, othersMayAnswer: true }));
    await owner.bot(word('hi', 'two', { priority: 2, othersMayAnswer: true }));
    await owner.bot(word('hi', 'four'));
    const person = newPhone();
    await owner.hears(person, 'hi');
    expect(await owner.answers(person, 3)).toEqual(['one', 'two', 'three']);
  });
});

describe('no contact is answered', () => {
  test('that has opted out, nor are opt-out and opt-in words', async () => {
    const owner = await fixture.tenant();
    await owner.bot({ trigger: 'ANY', reply: text('Yes?') });
    const person = newPhone();
    for (const words of ['STOP', 'hello?', 'Start', 'stop']) {
      await owner.hears(person, words);
      await owner.settled();
    }
    expect(await owner.answers(person, 0)).toEqual([]);
    expect(await owner.replies()).toEqual([]);
    await owner.hears(person, 'start');
    await owner.settled();
    await owner.hears(person, 'back again');
    expect(await owner.answers(person, 1)).toEqual(['Yes?']);
    // Who has not left does not come back: "start" is then a word like any other.
    await owner.hears(person, 'start');
    expect(await owner.answers(person, 2)).toEqual(['Yes?', 'Yes?']);
  });

  test('whose number is a channel of this deployment, of any tenant, because two bots would loop', async () => {
    const [one, other] = [await fixture.tenant(), await fixture.tenant()];
    await one.bot();
    await other.bot();
    const numberOf = async (owner: Owner): Promise<string> =>
      dataOf(await owner.ask('{ channels { nodes { displayPhoneNumber } } }')).channels.nodes[0].displayPhoneNumber;
    await other.hears(await numberOf(one), 'Hello from the other side');
    await one.hears(await numberOf(other), 'Hello from the other side');
    await other.settled();
    await one.settled();
    expect([...(await one.replies()), ...(await other.replies())]).toEqual([]);
  });

  test('that has received too many replies recently, until some time has passed', async () => {
    const owner = await fixture.tenant();
    await owner.bot();
    const machine = newPhone();
    for (let round = 0; round < 30; round += 1) await owner.hears(machine, `Automatic answer ${round}`);
    await owner.settled();
    expect(await owner.replies()).toHaveLength(20);
    await fixture.pass(HOUR - MINUTE);
    await owner.hears(machine, 'Still here');
    await owner.settled();
    expect(await owner.replies()).toHaveLength(20);
    await fixture.pass(2 * MINUTE);
    await owner.hears(machine, 'And now');
    await owner.settled();
    expect(await owner.replies()).toHaveLength(21);
  });

  test('whose message arrives long after it was written', async () => {
    const owner = await fixture.tenant();
    await owner.bot(word('anybody there?', 'Hello!'));
    const [late, other, early] = [newPhone(), newPhone(), newPhone()];
    const { emulator, url } = fixture.gateway;
    emulator.setWebhookUrl(undefined);
    fixture.setNetworkClock(-MAX_AGE_MS - SECOND);
    await owner.hears(late, 'Anybody there?');
    await owner.hears(other, 'Nobody asked you');
    fixture.setNetworkClock(0);
    emulator.setWebhookUrl(`${url}/network/cloud-api/webhook`);
    await owner.hears(early, 'Anybody there?');
    expect(await owner.answers(early, 1)).toEqual(['Hello!']);
    expect(await owner.answers(late, 0)).toEqual([]);
    // The bot says so, of messages that it would have answered.
    expect(await owner.skips()).toMatchObject([
      { reason: 'TOO_OLD', bot: { name: 'Bot' }, rule: { keyword: 'anybody there?' }, contact_id: expect.any(Number) },
    ]);
  });
});

describe('a cool-down', () => {
  test('applies per contact, and other bots may answer meanwhile', async () => {
    const owner = await fixture.tenant();
    await owner.bot(word('hi', 'Hello', { cooldownSeconds: 600 }));
    await owner.bot(word('hi', 'Once more', { priority: -1 }));
    const [ana, bo] = [newPhone(), newPhone()];
    await owner.hears(ana, 'hi');
    await owner.answers(ana, 1);
    await owner.hears(ana, 'hi');
    await owner.hears(bo, 'hi');
    expect(await owner.answers(bo, 1)).toEqual(['Hello']);
    expect(await owner.answers(ana, 2)).toEqual(['Hello', 'Once more']);
    await fixture.pass(601 * SECOND);
    await owner.hears(ana, 'hi');
    expect(await owner.answers(ana, 3)).toEqual(['Hello', 'Once more', 'Hello']);
  });

  test('does not start with a reply that could not be sent', async () => {
    const owner = await fixture.tenant({ templates: true });
    const reply = { template: { name: 'paused', language: 'en' } };
    await owner.bot(word('hi', '', { cooldownSeconds: 600, reply }));
    const person = newPhone();
    await owner.hears(person, 'hi');
    await owner.settled();
    await owner.hears(person, 'hi');
    await owner.settled();
    const refused = { state: 'refused', refusal: { code: 'VALIDATION_ERROR' }, attempts: 1 };
    expect(await owner.replies()).toMatchObject([refused, refused]);
    expect(await owner.events()).toEqual([]);
    const told = '{ bots { nodes { repliesCount lastRepliedAt lastRefusal { code message refusedAt } } } }';
    expect(dataOf(await owner.ask(told)).bots.nodes).toEqual([
      {
        repliesCount: 0,
        lastRepliedAt: null,
        lastRefusal: {
          code: 'VALIDATION_ERROR',
          message: expect.stringMatching('PAUSED'),
          refusedAt: expect.any(String),
        },
      },
    ]);
  });
});

describe('a first message', () => {
  test('is the first of a contact ever, and is answered once even if several arrive concurrently', async () => {
    const owner = await fixture.tenant();
    await owner.bot({ trigger: 'FIRST_MESSAGE', reply: text('Welcome') });
    const [ana, known] = [newPhone(), newPhone()];
    dataOf(await owner.ask(SEND, { to: known, text: 'We wrote first' }));
    await owner.hears(known, 'An answer');
    expect(await owner.answers(known, 2)).toEqual(['We wrote first', 'Welcome']);
    for (const words of ['One', 'Two', 'Three']) await owner.hears(ana, words);
    expect(await owner.answers(ana, 1)).toEqual(['Welcome']);
    await owner.hears(ana, 'Four');
    expect(await owner.answers(ana, 1)).toEqual(['Welcome']);
  });
});

describe('hand-over', () => {
  test('keeps a bot silent for a while after a person has written, not after bots and templates', async () => {
    const owner = await fixture.tenant({ templates: true });
    await owner.bot(word('hi', 'I am a bot', { handOverMinutes: 30 }));
    const person = newPhone();
    const template =
      'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { template: { name: "order", language: "en", body: ["a", "b"] } } }) { message { id } userErrors { code message path } } }';
    dataOf(await owner.ask(template, { to: person }));
    await owner.hears(person, 'hi');
    await owner.answers(person, 2);
    await owner.hears(person, 'hi');
    expect(await owner.answers(person, 3)).toEqual(['order', 'I am a bot', 'I am a bot']);
    dataOf(await owner.ask(SEND, { to: person, text: 'I am a person' }));
    await owner.hears(person, 'hi');
    await owner.settled();
    expect(await owner.replies()).toHaveLength(2);
    await fixture.pass(31 * MINUTE);
    await owner.hears(person, 'hi');
    await owner.settled();
    expect(await owner.replies()).toHaveLength(3);
  });
});

describe('a reply that cannot be sent', () => {
  test('is recorded with the reason and does not delay others', async () => {
    const owner = await fixture.tenant();
    await owner.bot(word('long', '@{contact_first_name}'.repeat(200)));
    await owner.bot(word('short', 'Fine'));
    const [long, short] = [newPhone(), newPhone()];
    await owner.hears(long, { text: 'long', profileName: 'Anastasiaanastasiaanastasia' });
    await owner.hears(short, 'short');
    expect(await owner.answers(short, 1)).toEqual(['Fine']);
    expect(await owner.replies()).toMatchObject([
      { state: 'refused', refusal: { code: 'VALIDATION_ERROR' } },
      { state: 'sent' },
    ]);
    expect(await owner.skips()).toMatchObject([
      { reason: 'VALIDATION_ERROR', rule: { trigger: 'exact', keyword: 'long' }, details: expect.any(String) },
    ]);
  });

  test('for a transient reason is retried for some minutes only', async () => {
    const owner = await fixture.tenant();
    await owner.bot();
    const { query } = fixture.gateway.database;
    const { lanes } = fixture.gateway.gateway.resources;
    const pause = (status: string) => query('update channels set status = $2 where tenant_id = $1', [owner.id, status]);
    const [ana, bo] = [newPhone(), newPhone()];
    /** Waits until this many attempts have failed. */
    const tried = (attempts: number) =>
      eventually(async () => {
        lanes.wake('bots', String(owner.id));
        const { message_id: id } = (await owner.replies()).at(-1) ?? {};
        const told = fixture.gateway.logs.filter(
          line => line['msg'] === 'a reply of a bot could not be sent' && line['messageId'] === id,
        );
        expect(told).toHaveLength(attempts);
      });
    /** Lets time pass, once what came of the last attempt is written. */
    const later = async (ms: number) => {
      await eventually(async () => {
        const [row] = await query<{ wait: number }>(
          "select extract(epoch from next_attempt_at - clock_timestamp())::float8 as wait from bot_replies where tenant_id = $1 and state = 'sending'",
          [owner.id],
        );
        expect(row?.wait).toBeLessThan(5);
      });
      await fixture.pass(ms);
      lanes.wake('bots', String(owner.id));
    };
    await pause('paused');
    await owner.hears(ana, 'hi');
    await tried(1);
    await later(3 * SECOND);
    await tried(2);
    await pause('active');
    await later(5 * SECOND);
    expect(await owner.answers(ana, 1)).toEqual(['Hello!']);
    expect(await owner.replies()).toMatchObject([{ state: 'sent', attempts: 3 }]);
    await pause('paused');
    await owner.hears(bo, 'hi');
    await tried(1);
    await later(MAX_AGE_MS);
    await owner.settled();
    await pause('active');
    expect((await owner.replies()).at(-1)).toMatchObject({ state: 'refused', refusal: { code: 'TOO_OLD' } });
    expect(await owner.answers(bo, 0)).toEqual([]);
    expect(await owner.skips()).toMatchObject([
      { reason: 'TOO_OLD', chat_message_id: (await owner.replies()).at(-1)?.message_id },
    ]);
  });
});

describe('a plan', () => {
  test('without bots disables existing bots', async () => {
    const owner = await fixture.tenant();
    await owner.bot();
    const { query } = fixture.gateway.database;
    await query("update tenants set plan_id = (select id from plans where name = 'starter') where tenant_id = $1", [
      owner.id,
    ]);
    await owner.hears(newPhone(), 'hi');
    await owner.settled();
    expect(await owner.replies()).toEqual([]);
  });
});

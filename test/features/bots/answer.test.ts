import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_AGE_MS } from '../../../src/features/bots/decide.ts';
import { HOUR, MINUTE, SECOND } from '../../../src/platform/clock.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { type Ground, type Owner, somebody, startGround } from './ground.ts';

let ground: Ground;
beforeAll(async () => {
  ground = await startGround();
});
afterAll(() => ground.gateway.stop());

const text = (words: string) => ({ text: { text: words } });
const word = (keyword: string, reply: string, more: object = {}) => ({
  trigger: 'EXACT',
  keywords: [keyword],
  reply: text(reply),
  ...more,
});
const BOTS = '{ bots { nodes { databaseId repliesCount lastRepliedAt } } }';
const SEND = 'mutation ($to: String!, $text: String!) { sendTextMessage(input: { to: $to, text: $text }) { id } }';

describe('an answer', () => {
  test('comes from the number that was written to, as a reply to the message, and is told of in one event', async () => {
    const owner = await ground.tenant();
    const person = somebody();
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
      message_id: reply?.message_id,
      reply_message_id: reply?.reply_message_id,
    });
    const message = `query ($id: ID!) { message(id: $id) { text replyToWamid replyTo { databaseId } contactId } }`;
    expect(dataOf(await owner.ask(message, { id: reply?.reply_message_id })).message).toEqual({
      text: 'It costs 5, Ana.',
      replyToWamid: wamid,
      replyTo: { databaseId: reply?.message_id },
      contactId: event?.payload['contact_id'],
    });
    const [bot] = dataOf(await owner.ask(BOTS)).bots.nodes;
    expect(bot).toEqual({ databaseId: id, repliesCount: 1, lastRepliedAt: expect.any(String) });
  });

  test('is a text, buttons, a list, a file or a template, as the bot says', async () => {
    const owner = await ground.tenant({ templates: true });
    const person = somebody();
    await owner.bot(
      word('buttons', '', { reply: { interactive: { body: 'Which?', buttons: [{ id: 'b1', title: 'One' }] } } }),
    );
    const list = { button: 'Open', sections: [{ rows: [{ id: 'r1', title: 'Row' }] }] };
    await owner.bot(word('list', '', { reply: { interactive: { body: 'Choose.', footer: 'Or not', list } } }));
    const media = { kind: 'IMAGE', link: 'https://example.com/a.png', caption: 'For @{contact_first_name}' };
    await owner.bot(word('image', '', { reply: { media } }));
    const template = { name: 'order', language: 'en', body: ['@{contact_first_name}', '17'] };
    await owner.bot(word('order', '', { reply: { template } }));
    for (const [index, what] of ['buttons', 'list', 'image', 'order'].entries()) {
      await owner.hears(person, { text: what, profileName: 'Ana' });
      await owner.answers(person, index + 1);
    }
    const { messages } = ground.gateway.emulator.sent({ to: person });
    expect(messages.map(({ type, content }) => [type, content])).toMatchObject([
      ['interactive', { type: 'button', action: { buttons: [{ type: 'reply', reply: { id: 'b1', title: 'One' } }] } }],
      ['interactive', { type: 'list', footer: { text: 'Or not' }, action: { button: 'Open' } }],
      ['image', { link: 'https://example.com/a.png', caption: 'For Ana' }],
      ['template', { name: 'order', components: [{ parameters: [{ text: 'Ana' }, { text: '17' }] }] }],
    ]);
  });

  test('goes to what stood on a button or its id, and to captions; not to reactions and system notes', async () => {
    const owner = await ground.tenant();
    await owner.bot({ ...word('more', 'By title'), priority: 2 });
    await owner.bot({ ...word('payload_7', 'By id'), priority: 1 });
    await owner.bot({ trigger: 'CONTAINS', keywords: ['sofa'], reply: text('By caption') });
    const [button, row, caption, other] = [somebody(), somebody(), somebody(), somebody()];
    await owner.hears(button, { type: 'interactive', buttonReply: { id: 'x', title: 'More' } });
    await owner.hears(row, { type: 'interactive', listReply: { id: 'payload_7', title: 'Seven' } });
    await owner.hears(caption, { type: 'image', caption: 'My old Sofa' });
    await owner.bot({ trigger: 'ANY', priority: -1, reply: text('Anything') });
    await owner.hears(other, { type: 'reaction', messageId: 'wamid.x', emoji: '👍' });
    await owner.hears(other, { type: 'system', newPhone: somebody() });
    expect(await owner.answers(button, 1)).toEqual(['By title']);
    expect(await owner.answers(row, 1)).toEqual(['By id']);
    expect(await owner.answers(caption, 1)).toEqual(['By caption']);
    expect(await owner.answers(other, 0)).toEqual([]);
  });
});

describe('of several bots that match', () => {
  test('the one with the highest priority answers alone, and of equal ones the oldest', async () => {
    const owner = await ground.tenant();
    await owner.bot(word('hi', 'second'));
    await owner.bot(word('hi', 'third'));
    const first = await owner.bot(word('hi', 'first', { priority: 5 }));
    const [ana, bo] = [somebody(), somebody()];
    await owner.hears(ana, 'hi');
    expect(await owner.answers(ana, 1)).toEqual(['first']);
    await owner.ask('mutation ($id: ID!) { deleteBot(id: $id) { id } }', { id: first });
    await owner.hears(bo, 'hi');
    expect(await owner.answers(bo, 1)).toEqual(['second']);
    expect(await owner.replies()).toHaveLength(2);
  });

  test('others answer as well where the one before them lets them, in order', async () => {
    const owner = await ground.tenant();
    await owner.bot(word('hi', 'three', { priority: 1 }));
    await owner.bot(word('hi', 'one', { priority: 3, othersMayAnswer: true }));
    await owner.bot(word('hi', 'two', { priority: 2, othersMayAnswer: true }));
    await owner.bot(word('hi', 'four'));
    const person = somebody();
    await owner.hears(person, 'hi');
    expect(await owner.answers(person, 3)).toEqual(['one', 'two', 'three']);
  });
});

describe('nobody is answered', () => {
  test('who has opted out, nor to the words by which people leave and come back', async () => {
    const owner = await ground.tenant();
    await owner.bot({ trigger: 'ANY', reply: text('Yes?') });
    const person = somebody();
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

  test('whose number is a channel of this deployment, of whatever tenant: two bots would never end', async () => {
    const [one, other] = [await ground.tenant(), await ground.tenant()];
    await one.bot();
    await other.bot();
    const numberOf = async (owner: Owner): Promise<string> =>
      dataOf(await owner.ask('{ channels { displayPhoneNumber } }')).channels[0].displayPhoneNumber;
    await other.hears(await numberOf(one), 'Hello from the other side');
    await one.hears(await numberOf(other), 'Hello from the other side');
    await other.settled();
    await one.settled();
    expect([...(await one.replies()), ...(await other.replies())]).toEqual([]);
  });

  test('whom bots have answered too often lately, until some time has passed', async () => {
    const owner = await ground.tenant();
    await owner.bot();
    const machine = somebody();
    for (let round = 0; round < 30; round += 1) await owner.hears(machine, `Automatic answer ${round}`);
    await owner.settled();
    expect(await owner.replies()).toHaveLength(20);
    ground.pass(HOUR - MINUTE);
    await owner.hears(machine, 'Still here');
    await owner.settled();
    expect(await owner.replies()).toHaveLength(20);
    ground.pass(2 * MINUTE);
    await owner.hears(machine, 'And now');
    await owner.settled();
    expect(await owner.replies()).toHaveLength(21);
  });

  test('whose message came long after it was written', async () => {
    const owner = await ground.tenant();
    await owner.bot();
    const [late, early] = [somebody(), somebody()];
    const { emulator, url } = ground.gateway;
    emulator.setWebhookUrl(undefined);
    await owner.hears(late, 'Anybody there?');
    ground.pass(MAX_AGE_MS + SECOND);
    emulator.setWebhookUrl(`${url}/network/cloud-api/webhook`);
    await owner.hears(early, 'Anybody there?');
    expect(await owner.answers(early, 1)).toEqual(['Hello!']);
    expect(await owner.answers(late, 0)).toEqual([]);
  });
});

describe('a cool-down', () => {
  test('is kept for each contact, and others are asked meanwhile', async () => {
    const owner = await ground.tenant();
    await owner.bot(word('hi', 'Hello', { cooldownSeconds: 600 }));
    await owner.bot(word('hi', 'Once more', { priority: -1 }));
    const [ana, bo] = [somebody(), somebody()];
    await owner.hears(ana, 'hi');
    await owner.answers(ana, 1);
    await owner.hears(ana, 'hi');
    await owner.hears(bo, 'hi');
    expect(await owner.answers(bo, 1)).toEqual(['Hello']);
    expect(await owner.answers(ana, 2)).toEqual(['Hello', 'Once more']);
    ground.pass(601 * SECOND);
    await owner.hears(ana, 'hi');
    expect(await owner.answers(ana, 3)).toEqual(['Hello', 'Once more', 'Hello']);
  });

  test('that brought nobody an answer is given back', async () => {
    const owner = await ground.tenant({ templates: true });
    const reply = { template: { name: 'paused', language: 'en' } };
    await owner.bot(word('hi', '', { cooldownSeconds: 600, reply }));
    const person = somebody();
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
  test('is the first that a contact ever wrote, and is welcomed once however many come at the same time', async () => {
    const owner = await ground.tenant();
    await owner.bot({ trigger: 'FIRST_MESSAGE', reply: text('Welcome') });
    const [ana, known] = [somebody(), somebody()];
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
    const owner = await ground.tenant({ templates: true });
    await owner.bot(word('hi', 'I am a bot', { handOverMinutes: 30 }));
    const person = somebody();
    const template =
      'mutation ($to: String!) { sendTemplateMessage(input: { to: $to, name: "order", language: "en", body: ["a", "b"] }) { id } }';
    dataOf(await owner.ask(template, { to: person }));
    await owner.hears(person, 'hi');
    await owner.answers(person, 2);
    await owner.hears(person, 'hi');
    expect(await owner.answers(person, 3)).toEqual(['order', 'I am a bot', 'I am a bot']);
    dataOf(await owner.ask(SEND, { to: person, text: 'I am a person' }));
    await owner.hears(person, 'hi');
    await owner.settled();
    expect(await owner.replies()).toHaveLength(2);
    ground.pass(31 * MINUTE);
    await owner.hears(person, 'hi');
    await owner.settled();
    expect(await owner.replies()).toHaveLength(3);
  });
});

describe('what cannot be sent', () => {
  test('is noted with its reason, and holds up nobody', async () => {
    const owner = await ground.tenant();
    await owner.bot(word('long', '@{contact_first_name}'.repeat(200)));
    await owner.bot(word('short', 'Fine'));
    const [long, short] = [somebody(), somebody()];
    await owner.hears(long, { text: 'long', profileName: 'Anastasiaanastasiaanastasia' });
    await owner.hears(short, 'short');
    expect(await owner.answers(short, 1)).toEqual(['Fine']);
    expect(await owner.replies()).toMatchObject([
      { state: 'refused', refusal: { code: 'VALIDATION_ERROR' } },
      { state: 'sent' },
    ]);
  });

  test('for a reason that passes is tried again for some minutes, and no longer', async () => {
    const owner = await ground.tenant();
    await owner.bot();
    const { query } = ground.gateway.database;
    const { jobs } = ground.gateway.gateway.resources;
    const pause = (status: string) => query('update channels set status = $2 where tenant_id = $1', [owner.id, status]);
    const [ana, bo] = [somebody(), somebody()];
    /** Waits for so many attempts in vain. */
    const tried = (attempts: number) =>
      eventually(async () => {
        jobs.wake('bots', String(owner.id));
        const { message_id: id } = (await owner.replies()).at(-1) ?? {};
        const told = ground.gateway.logs.filter(
          line => line['msg'] === 'a bot could not answer' && line['messageId'] === id,
        );
        expect(told).toHaveLength(attempts);
      });
    /** Lets time pass, once what came of the last attempt is written. */
    const later = async (ms: number) => {
      const { clock } = ground.gateway.gateway.resources;
      await eventually(async () => {
        const [row] = await query<{ wait: number }>(
          "select extract(epoch from next_attempt_at - to_timestamp($2 / 1000.0))::float8 as wait from bot_replies where tenant_id = $1 and state = 'sending'",
          [owner.id, clock.now()],
        );
        expect(row?.wait).toBeLessThan(5);
      });
      ground.pass(ms);
      jobs.wake('bots', String(owner.id));
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
  });
});

describe('a plan', () => {
  test('without bots has none: what was made before is silent from then on', async () => {
    const owner = await ground.tenant();
    await owner.bot();
    const { query } = ground.gateway.database;
    await query("update tenants set plan_id = (select id from plans where name = 'starter') where tenant_id = $1", [
      owner.id,
    ]);
    await owner.hears(somebody(), 'hi');
    await owner.settled();
    expect(await owner.replies()).toEqual([]);
  });
});

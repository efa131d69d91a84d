import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { MINUTE } from '../../../src/platform/clock.ts';
import { codeOf, dataOf, faultsOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone, seedOf } from '../../support/seed.ts';
import { EVENTS, follow } from '../events/subscriber.ts';
import { CREATE, type Ground, type Owner, startGround } from './ground.ts';

let ground: Ground;
let owner: Owner;
beforeAll(async () => {
  ground = await startGround();
  owner = await ground.tenant({ templates: true });
});
afterAll(() => ground.gateway.stop());

const text = (words: string) => ({ text: { text: words } });
const base = { name: 'Bot', trigger: 'ANY', reply: text('Hello!') };
const create = (input: object, of = owner) => of.ask(CREATE, { input: { ...base, ...input } });
const UPDATE = 'mutation ($id: ID!, $input: UpdateBotInput!) { updateBot(id: $id, input: $input) { databaseId } }';
const REPLY = `type text { text previewUrl }
  interactive { body header footer buttons { id title } list { button sections { title rows { id title description } } } ctaUrl { displayText url } }
  media { kind link mediaId caption filename }
  template { name language header { text image { link mediaId } location { latitude } } body bodyByName { name value } buttons { index value } }`;
const BOT = `databaseId name kind trigger keywords pattern isEnabled priority othersMayAnswer cooldownSeconds handOverMinutes
  repliesCount lastRepliedAt reply { ${REPLY} }`;
const read = async (id: number, of = owner) =>
  dataOf(await of.ask(`query ($id: ID!) { bot(id: $id) { ${BOT} } }`, { id })).bot;

describe('a bot', () => {
  test('is stored as given, and an update changes only the given fields', async () => {
    const id = await owner.bot({
      name: ' Prices ',
      trigger: 'STARTS_WITH',
      keywords: [' Price ', 'PRICE', 'cost'],
      priority: -3,
      cooldownSeconds: 60,
      handOverMinutes: 30,
      reply: {
        interactive: { body: 'Which?', header: null, ctaUrl: { displayText: 'Shop', url: 'https://example.com' } },
      },
    });
    const described = {
      databaseId: id,
      name: 'Prices',
      kind: 'MESSAGE',
      trigger: 'STARTS_WITH',
      keywords: ['Price', 'cost'],
      pattern: null,
      isEnabled: true,
      priority: -3,
      othersMayAnswer: false,
      cooldownSeconds: 60,
      handOverMinutes: 30,
      repliesCount: 0,
      lastRepliedAt: null,
      reply: {
        type: 'INTERACTIVE',
        text: null,
        interactive: {
          body: 'Which?',
          header: null,
          footer: null,
          buttons: null,
          list: null,
          ctaUrl: { displayText: 'Shop', url: 'https://example.com' },
        },
        media: null,
        template: null,
      },
    };
    expect(await read(id)).toEqual(described);
    const change = (input: object) => owner.ask(UPDATE, { id, input });
    dataOf(await change({ isEnabled: false, cooldownSeconds: 0 }));
    const changed = { ...described, isEnabled: false, cooldownSeconds: 0 };
    expect(await read(id)).toEqual(changed);
    const template = { name: 'order', language: 'en', body: ['@{contact_first_name}', '7'] };
    dataOf(await change({ trigger: 'REGEX', pattern: 'pric(e|ing)', reply: { template } }));
    expect(await read(id)).toMatchObject({
      kind: 'TEMPLATE',
      trigger: 'REGEX',
      keywords: [],
      pattern: 'pric(e|ing)',
      reply: {
        type: 'TEMPLATE',
        interactive: null,
        template: { ...template, bodyByName: [], buttons: [], header: null },
      },
    });
    dataOf(await change({ trigger: 'FIRST_MESSAGE' }));
    expect(await read(id)).toMatchObject({ trigger: 'FIRST_MESSAGE', keywords: [], pattern: null });
    dataOf(await owner.ask('mutation ($id: ID!) { deleteBot(id: $id) { databaseId name } }', { id }));
    expect(codeOf(await change({ name: 'Again' }))).toBe('NOT_FOUND');
  });

  test('is created once per idempotency key', async () => {
    const input = { idempotencyKey: 'bot-1', name: 'Once' };
    const [first, second] = [await create(input), await create(input)];
    expect(dataOf(second)).toEqual(dataOf(first));
    expect(codeOf(await create({ ...input, name: 'Other' }))).toBe('IDEMPOTENCY_MISMATCH');
  });

  test('is listed by kind, trigger, state and search', async () => {
    const of = await ground.tenant({ templates: true });
    const reply = { template: { name: 'order', language: 'en', body: ['a', 'b'] } };
    const [a, b, c] = [
      await of.bot({ name: 'Alpha', trigger: 'EXACT', keywords: ['sofa'], priority: 1 }),
      await of.bot({ name: 'Beta', isEnabled: false }),
      await of.bot({ name: 'Gamma', reply, priority: 2 }),
    ];
    const list = async (args: string) =>
      dataOf(await of.ask(`{ bots${args} { totalCount nodes { databaseId } } }`)).bots.nodes.map(
        (bot: { databaseId: number }) => bot.databaseId,
      );
    expect(await list('')).toEqual([a, b, c]);
    expect(await list('(filter: { kind: { eq: TEMPLATE } })')).toEqual([c]);
    expect(await list('(filter: { trigger: { in: [EXACT] } })')).toEqual([a]);
    expect(await list('(filter: { isEnabled: { eq: false } })')).toEqual([b]);
    expect(await list('(search: "SOFA")')).toEqual([a]);
    expect(await list('(orderBy: [{ field: PRIORITY, direction: DESC }], first: 2)')).toEqual([c, a]);
  });

  test('is limited to 200 per tenant, 20 with a pattern, even with concurrent requests', async () => {
    const of = await ground.tenant();
    const { query } = ground.gateway.database;
    const fill = (count: number, trigger: string, pattern: string | null) =>
      query(
        `insert into bots (tenant_id, name, kind, trigger, pattern, is_enabled, reply)
         select $1, 'x', 'message', $2, $3, false, '{"text": {"text": "x"}}' from generate_series(1, $4)`,
        [of.id, trigger, pattern, count],
      );
    await fill(18, 'regex', 'x');
    const codes = async (input: object) =>
      (await Promise.all(Array.from({ length: 4 }, () => create(input, of)))).map(codeOf).sort();
    const refused = 'FEATURE_LIMIT_EXCEEDED';
    expect(await codes({ trigger: 'REGEX', pattern: 'y' })).toEqual([refused, refused, undefined, undefined]);
    const plain = dataOf(await create({}, of)).createBot.databaseId;
    expect(codeOf(await of.ask(UPDATE, { id: plain, input: { trigger: 'REGEX', pattern: 'y' } }))).toBe(refused);
    await fill(177, 'any', null);
    expect(await codes({})).toEqual([refused, refused, undefined, undefined]);
  });

  test("may have a pattern while the total size of the tenant's patterns is small, even with concurrent requests", async () => {
    const of = await ground.tenant();
    const [large, half] = [String.raw`\pL{400}!`, String.raw`\pL{190}!`];
    const make = (pattern: string) => create({ trigger: 'REGEX', pattern }, of);
    const [first = 0] = await Promise.all([make(large), make(large)]).then(made =>
      made.map(answer => dataOf(answer).createBot.databaseId),
    );
    const made = await Promise.all(Array.from({ length: 3 }, () => make(half)));
    expect(made.map(codeOf).sort()).toEqual(['VALIDATION_ERROR', 'VALIDATION_ERROR', undefined]);
    const change = (pattern: string) => of.ask(UPDATE, { id: first, input: { pattern } });
    expect(faultsOf(await change(String.raw`\pL{450}!`))).toEqual({
      pattern: [
        expect.stringMatching(
          /^Is too complex together with the patterns of the other bots: it compiles to 45\d instructions; /,
        ),
      ],
    });
    // It counts once, as what it becomes.
    dataOf(await change(String.raw`\pL{390}!`));
    dataOf(await change('price'));
    dataOf(await make(half));
  });

  test('needs a plan with bots', async () => {
    const of = await ground.tenant({ plan: 'starter' });
    expect(codeOf(await create({}, of))).toBe('FEATURE_NOT_AVAILABLE');
    expect(codeOf(await of.ask('{ testBot(text: "x") { silence } }'))).toBe('FEATURE_NOT_AVAILABLE');
  });
});

describe('invalid input is rejected by field, and nothing is stored', () => {
  const word = { trigger: 'EXACT', keywords: ['a'] };
  const buttons = [{ id: 'a', title: 'A' }];
  test.each<[object, string]>([
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ trigger: 'EXACT' }, 'keywords'],
    [{ trigger: 'CONTAINS', keywords: [] }, 'keywords'],
    [{ trigger: 'CONTAINS', keywords: ['a', ' \t'] }, 'keywords.1'],
    [{ ...word, keywords: Array.from({ length: 51 }, (_, index) => `k${index}`) }, 'keywords'],
    [{ keywords: ['a'] }, 'keywords'],
    [{ trigger: 'REGEX' }, 'pattern'],
    [{ trigger: 'REGEX', pattern: '(' }, 'pattern'],
    [{ trigger: 'REGEX', pattern: String.raw`\pL{900}` }, 'pattern'],
    [{ ...word, pattern: 'x' }, 'pattern'],
    [{ cooldownSeconds: -1 }, 'cooldownSeconds'],
    [{ handOverMinutes: 1_000_000 }, 'handOverMinutes'],
    [{ priority: 10_000_000 }, 'priority'],
    [{ reply: {} }, 'reply'],
    [{ reply: { ...text('x'), media: { kind: 'IMAGE', link: 'https://example.com' } } }, 'reply'],
    [{ reply: text(' ') }, 'reply.text.text'],
    [{ reply: text('Hello @{contact_shoe_size}') }, 'reply.text.text'],
    [{ reply: text('Hello @{constructor}') }, 'reply.text.text'],
    [{ reply: text('x'.repeat(4_097)) }, 'reply.text.text'],
    [{ reply: text(`${'x'.repeat(4_097)}@{contact_email}`) }, 'reply.text.text'],
    [{ reply: { interactive: { body: 'x'.repeat(1_025), buttons } } }, 'reply.interactive.body'],
    [{ reply: { interactive: { body: 'x' } } }, 'reply.interactive.buttons'],
    [{ reply: { interactive: { body: '@{nobody}', buttons } } }, 'reply.interactive.body'],
    [
      { reply: { interactive: { body: 'x', buttons: [{ id: 'a', title: 'x'.repeat(21) }] } } },
      'reply.interactive.buttons.0.title',
    ],
    [{ reply: { media: { kind: 'IMAGE' } } }, 'reply.media.link'],
    [{ reply: { media: { kind: 'IMAGE', link: 'ftp://example.com' } } }, 'reply.media.link'],
    [{ reply: { media: { kind: 'AUDIO', link: 'https://example.com', caption: 'x' } } }, 'reply.media.caption'],
    [{ reply: { media: { kind: 'IMAGE', mediaId: '01890000-0000-7000-8000-000000000000' } } }, 'reply.media.mediaId'],
    [{ reply: { template: { name: 'nobody', language: 'en' } } }, 'reply.template.name'],
    [{ reply: { template: { name: 'order', language: 'fr' } } }, 'reply.template.language'],
    [{ reply: { template: { name: 'order', language: 'en', body: ['a'] } } }, 'reply.template.body.1'],
    [{ reply: { template: { name: 'order', language: 'en', body: ['a', '@{nobody}'] } } }, 'reply.template.body.1'],
    [{ reply: { template: { name: 'login_code', language: 'en', body: ['1'] } } }, 'reply.template.name'],
  ])('%j', async (input, field) => {
    const count = async () => dataOf(await owner.ask('{ bots { totalCount } }')).bots.totalCount;
    const before = await count();
    expect(Object.keys(faultsOf(await create(input)))).toEqual([field]);
    expect(await count()).toBe(before);
  });

  test('also in an update, validated as the resulting bot', async () => {
    const id = await owner.bot({ trigger: 'EXACT', keywords: ['a'] });
    const faults = async (input: object) => Object.keys(faultsOf(await owner.ask(UPDATE, { id, input })));
    expect(await faults({ keywords: [] })).toEqual(['keywords']);
    expect(await faults({ trigger: 'REGEX' })).toEqual(['pattern']);
    expect(await faults({ trigger: 'ANY', keywords: ['b'] })).toEqual(['keywords']);
    expect(await faults({ reply: {} })).toEqual(['reply']);
    expect(await read(id)).toMatchObject({ trigger: 'EXACT', keywords: ['a'] });
  });

  test('a text that only merge fields make too long is accepted: it is checked when it is merged', async () => {
    dataOf(await create({ isEnabled: false, reply: text(`${'x'.repeat(4_090)}@{contact_first_name}`) }));
  });

  test('a template that is not approved is accepted: it is checked when it is sent', async () => {
    dataOf(await create({ isEnabled: false, reply: { template: { name: 'paused', language: 'en' } } }));
  });
});

describe('testBot', () => {
  const TEST = `query ($text: String!, $contactId: ID, $isFirstMessage: Boolean = false) {
    testBot(text: $text, contactId: $contactId, isFirstMessage: $isFirstMessage) {
      silence answers { bot { name } answers rule { trigger keyword } reply { type text { text } } } bots { bot { name } answers reason }
    }
  }`;

  test('shows which bot would reply with what, and why the others would not, without side effects', async () => {
    const of = await ground.tenant();
    await of.bot({ name: 'welcome', trigger: 'FIRST_MESSAGE', priority: 9 });
    await of.bot({ name: 'off', isEnabled: false, priority: 8 });
    await of.bot({ name: 'other', trigger: 'EXACT', keywords: ['no'], priority: 7 });
    await of.bot({
      name: 'price',
      trigger: 'CONTAINS',
      keywords: ['PRICE'],
      reply: text('For @{contact_first_name}: 5'),
    });
    await of.bot({ name: 'any' });
    const ask = async (variables: object) => dataOf(await of.ask(TEST, variables)).testBot;
    expect(await ask({ text: 'Price?' })).toEqual({
      silence: null,
      answers: [
        {
          bot: { name: 'price' },
          answers: true,
          rule: { trigger: 'CONTAINS', keyword: 'PRICE' },
          reply: { type: 'TEXT', text: { text: 'For @{contact_first_name}: 5' } },
        },
      ],
      bots: [
        { bot: { name: 'welcome' }, answers: false, reason: 'NO_MATCH' },
        { bot: { name: 'off' }, answers: false, reason: 'DISABLED' },
        { bot: { name: 'other' }, answers: false, reason: 'NO_MATCH' },
        { bot: { name: 'price' }, answers: true, reason: null },
        { bot: { name: 'any' }, answers: false, reason: 'ANOTHER_ANSWERS' },
      ],
    });
    expect((await ask({ text: 'Price?', isFirstMessage: true })).answers[0].bot.name).toBe('welcome');
    expect(await ask({ text: 'STOP' })).toMatchObject({ silence: 'OPT_WORD', answers: [] });
    expect(await of.replies()).toEqual([]);
    expect(dataOf(await of.ask('{ messages { totalCount } }')).messages.totalCount).toBe(0);
  });

  test('with a contact fills merge fields and considers cool-downs, hand-over and opt-out', async () => {
    const of = await ground.tenant();
    const reply = text('Hello @{contact_first_name} @{contact_first_name}');
    await of.bot({ name: 'cool', trigger: 'EXACT', keywords: ['hi'], cooldownSeconds: 3_600, reply });
    await of.bot({ name: 'welcome', trigger: 'FIRST_MESSAGE', priority: 1 });
    await of.bot({ name: 'shy', priority: -1, handOverMinutes: 30, reply });
    const { globalId: contact, phone: person } = await seedOf(ground.gateway, of).contact({
      firstName: '@{contact_email}',
    });
    const ask = async (text: string) => dataOf(await of.ask(TEST, { text, contactId: contact })).testBot;
    const names = async (text: string) =>
      (await ask(text)).answers.map((one: { bot: { name: string } }) => one.bot.name);
    expect(await names('hi')).toEqual(['welcome']);
    await of.hears(person, 'hi');
    await of.answers(person, 1);
    expect(await names('hi')).toEqual(['cool']);
    // Values are merged once: they are not texts of ours.
    expect((await ask('hi')).answers[0].reply.text.text).toBe('Hello @{contact_email} @{contact_email}');
    await of.hears(person, 'hi');
    await of.answers(person, 2);
    expect(await names('hi')).toEqual(['shy']);
    dataOf(
      await of.ask('mutation ($to: String!) { sendTextMessage(input: { to: $to, text: "A person" }) { id } }', {
        to: person,
      }),
    );
    expect((await ask('hi')).bots).toMatchObject([
      { reason: 'NO_MATCH' },
      { reason: 'COOLING_DOWN' },
      { reason: 'HANDED_OVER' },
    ]);
    await ground.pass(31 * MINUTE);
    expect(await names('hi')).toEqual(['shy']);
    expect(await ask('start')).toMatchObject({ silence: null });
    dataOf(
      await of.ask('mutation ($id: ID!) { updateContact(id: $id, input: { isOptedOut: true }) { id } }', {
        id: contact,
      }),
    );
    expect(await ask('hi')).toMatchObject({
      silence: 'OPTED_OUT',
      answers: [],
      bots: [{}, {}, { reason: null, answers: false }],
    });
    expect(await ask('start')).toMatchObject({ silence: 'OPT_WORD' });
  });

  test('requires the scope contacts:read for a contact', async () => {
    const token = await ground.gateway.addToken(owner, { scopes: ['bots:read'] });
    const id = encodeGlobalId('Contact', 1);
    expect(codeOf(await ground.gateway.graphql(TEST, { text: 'x', contactId: id }, token))).toBe('INSUFFICIENT_SCOPE');
    expect(codeOf(await ground.gateway.graphql(TEST, { text: 'x' }, token))).toBeUndefined();
  });
});

test('bot.replied contains the bot as it was, and requires the scope bots:read', async () => {
  const of = await ground.tenant();
  const reply = { interactive: { body: 'x', ctaUrl: { displayText: 'Open', url: 'https://example.com' } } };
  const id = await of.bot({ reply });
  const query = `subscription ($types: [EventType!]) {
    events(types: $types) { id type ... on BotEvent { bot { databaseId reply { ${REPLY} } } rule { trigger keyword } contactId messageId replyMessageId } }
  }`;
  const others = await ground.gateway.addToken(of, { scopes: ['events:read', 'messages:read'] });
  const [mine, theirs] = [
    await follow(ground.gateway.url, of.token, { query, types: ['bot.*'] }),
    await follow(ground.gateway.url, others, { query: EVENTS }),
  ];
  const person = newPhone();
  await of.hears(person, 'hi');
  await of.answers(person, 1);
  const [noted] = await of.replies();
  await eventually(() => expect(mine.events).toHaveLength(1));
  await eventually(() => expect(theirs.events.map(event => event.type)).toContain('message.queued'));
  expect(mine.events).toEqual([
    {
      id: expect.any(String),
      type: 'bot.replied',
      bot: { databaseId: id, reply: (await read(id, of)).reply },
      rule: { trigger: 'ANY', keyword: null },
      contactId: expect.any(Number),
      messageId: noted?.message_id,
      replyMessageId: noted?.reply_message_id,
    },
  ]);
  expect(theirs.events.map(event => event.type)).not.toContain('bot.replied');
  const [event] = await of.events();
  // Webhooks carry REST's names throughout.
  expect(event?.payload.bot.reply).toEqual({
    interactive: { body: 'x', cta_url: { display_text: 'Open', url: 'https://example.com' } },
  });
  await Promise.all([mine.stop(), theirs.stop()]);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { MINUTE } from '../../../src/platform/clock.ts';
import { codeOf, dataOf, faultsOf, payloadOf, userErrorsOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone, seedOf } from '../../support/seed.ts';
import { EVENTS, follow } from '../events/subscriber.ts';
import { type Fixture, type Owner, startFixture } from './fixture.ts';

let fixture: Fixture;
let owner: Owner;
beforeAll(async () => {
  fixture = await startFixture();
  owner = await fixture.tenant({ templates: true });
});
afterAll(() => fixture.gateway.stop());

const text = (words: string) => ({ text: { text: words } });
const base = { name: 'Bot', trigger: 'ANY', reply: text('Hello!') };
const create = (input: object, of = owner) =>
  fixture.gateway.mutate('createBot', { ...base, ...input }, 'bot { databaseId }', of.token);
const update = (id: number | string, input: object, of = owner) =>
  fixture.gateway.mutate('updateBot', { id: String(id), ...input }, 'bot { databaseId }', of.token);
const REPLY = `__typename ... on TextContent { body previewUrl }
  ... on InteractiveContent { body header footer buttons { replyId title } list { button sections { title rows { replyId title description } } } ctaUrl { displayText url } }
  ... on MediaContent { caption media { kind path url link mediaId mimeType filename size isAvailable } }
  ... on TemplateContent { templateName language values { header { text link mediaId latitude } body bodyByName { name value } buttons { index value } } rendered { body } }`;
const BOT = `databaseId displayName name kind trigger keywords pattern isEnabled priority othersMayAnswer cooldownSeconds handOverMinutes
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
      databaseId: String(id),
      displayName: 'Prices',
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
        __typename: 'InteractiveContent',
        body: 'Which?',
        header: null,
        footer: null,
        buttons: [],
        list: null,
        ctaUrl: { displayText: 'Shop', url: 'https://example.com' },
      },
    };
    expect(await read(id)).toEqual(described);
    const change = (input: object) => update(id, input);
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
        __typename: 'TemplateContent',
        templateName: 'order',
        language: 'en',
        values: { body: template.body, bodyByName: [], buttons: [], header: null },
        rendered: null,
      },
    });
    dataOf(await change({ trigger: 'FIRST_MESSAGE' }));
    expect(await read(id)).toMatchObject({ trigger: 'FIRST_MESSAGE', keywords: [], pattern: null });
    const remove = () =>
      fixture.gateway.mutate('deleteBot', { id: String(id), idempotencyKey: 'gone' }, 'deletedId', owner.token);
    const deletedId = encodeGlobalId('Bot', owner.id, id);
    expect([payloadOf(await remove()), payloadOf(await remove())]).toMatchObject([{ deletedId }, { deletedId }]);
    expect(codeOf(await change({ name: 'Again' }))).toBe('NOT_FOUND');
    expect(await read(id)).toBeNull();
  });

  test('is created once per idempotency key', async () => {
    const input = { idempotencyKey: 'bot-1', name: 'Once' };
    const [first, second] = [await create(input), await create(input)];
    expect(dataOf(second)).toEqual(dataOf(first));
    expect(codeOf(await create({ ...input, name: 'Other' }))).toBe('IDEMPOTENCY_MISMATCH');
  });

  test('is listed by kind, trigger, state and search', async () => {
    const of = await fixture.tenant({ templates: true });
    const reply = { template: { name: 'order', language: 'en', body: ['a', 'b'] } };
    const [a, b, c] = [
      await of.bot({ name: 'Alpha', trigger: 'EXACT', keywords: ['sofa'], priority: 1 }),
      await of.bot({ name: 'Beta', isEnabled: false }),
      await of.bot({ name: 'Gamma', reply, priority: 2 }),
    ];
    const list = async (args: string) =>
      dataOf(await of.ask(`{ bots${args} { totalCount nodes { databaseId } } }`)).bots.nodes.map(
        (bot: { databaseId: string }) => Number(bot.databaseId),
      );
    expect(await list('')).toEqual([a, b, c]);
    expect(await list('(filter: { kind: { eq: TEMPLATE } })')).toEqual([c]);
    expect(await list('(filter: { trigger: { in: [EXACT] } })')).toEqual([a]);
    expect(await list('(filter: { isEnabled: { eq: false } })')).toEqual([b]);
    expect(await list('(search: "SOFA")')).toEqual([a]);
    expect(await list('(orderBy: [{ field: PRIORITY, direction: DESC }], first: 2)')).toEqual([c, a]);
  });

  test('is limited to 200 per tenant, 20 with a pattern, even with concurrent requests', async () => {
    const of = await fixture.tenant();
    const { query } = fixture.gateway.database;
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
    const plain = payloadOf(await create({}, of)).bot.databaseId;
    expect(codeOf(await update(plain, { trigger: 'REGEX', pattern: 'y' }, of))).toBe(refused);
    await fill(177, 'any', null);
    expect(await codes({})).toEqual([refused, refused, undefined, undefined]);
  });

  test("may have a pattern while the total size of the tenant's patterns is small, even with concurrent requests", async () => {
    const of = await fixture.tenant();
    const [large, half] = [String.raw`\pL{400}!`, String.raw`\pL{190}!`];
    const make = (pattern: string) => create({ trigger: 'REGEX', pattern }, of);
    const [first = 0] = await Promise.all([make(large), make(large)]).then(made =>
      made.map(answer => payloadOf(answer).bot.databaseId),
    );
    const made = await Promise.all(Array.from({ length: 3 }, () => make(half)));
    expect(made.map(codeOf).sort()).toEqual(['VALIDATION_ERROR', 'VALIDATION_ERROR', undefined]);
    const change = (pattern: string) => update(first, { pattern }, of);
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
    const of = await fixture.tenant({ plan: 'starter' });
    expect(codeOf(await create({}, of))).toBe('FEATURE_NOT_AVAILABLE');
    expect(codeOf(await of.ask('{ previewBot(text: "x") { silence } }'))).toBe('FEATURE_NOT_AVAILABLE');
  });
});

test('user errors have the code of their fault, in parts of the reply too', async () => {
  const codes = async (input: object) =>
    userErrorsOf(await create(input)).map(({ code, path }) => `${code} ${path.join('.')}`);
  expect(await codes({ name: '', trigger: 'EXACT', pattern: 'x', cooldownSeconds: -1 })).toEqual([
    'REQUIRED name',
    'REQUIRED keywords',
    'SURPLUS pattern',
    'OUT_OF_RANGE cooldownSeconds',
  ]);
  expect(await codes({ reply: {} })).toEqual(['REQUIRED reply']);
  expect(await codes({ reply: { ...text('a'), interactive: { body: 'x' } } })).toEqual(['SURPLUS reply']);
  expect(await codes({ reply: text(`${'x'.repeat(4_097)}@{contact_email}`) })).toEqual(['TOO_LONG reply.text.text']);
});

describe('invalid input is rejected by field, and nothing is stored', () => {
  const word = { trigger: 'EXACT', keywords: ['a'] };
  const buttons = [{ replyId: 'a', title: 'A' }];
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
      { reply: { interactive: { body: 'x', buttons: [{ replyId: 'a', title: 'x'.repeat(21) }] } } },
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
    const faults = async (input: object) => Object.keys(faultsOf(await update(id, input)));
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

describe('previewBot', () => {
  const TEST = `query ($text: String!, $contactId: ID, $isFirstMessage: Boolean = false) {
    previewBot(text: $text, contactId: $contactId, isFirstMessage: $isFirstMessage) {
      silence answers { bot { name } isAnswering rule { trigger keyword } reply { ... on TextContent { body } } } bots { bot { name } isAnswering reason }
    }
  }`;

  test('shows which bot would reply with what, and why the others would not, without side effects', async () => {
    const of = await fixture.tenant();
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
    const ask = async (variables: object) => dataOf(await of.ask(TEST, variables)).previewBot;
    expect(await ask({ text: 'Price?' })).toEqual({
      silence: null,
      answers: [
        {
          bot: { name: 'price' },
          isAnswering: true,
          rule: { trigger: 'CONTAINS', keyword: 'PRICE' },
          reply: { body: 'For @{contact_first_name}: 5' },
        },
      ],
      bots: [
        { bot: { name: 'welcome' }, isAnswering: false, reason: 'NO_MATCH' },
        { bot: { name: 'off' }, isAnswering: false, reason: 'DISABLED' },
        { bot: { name: 'other' }, isAnswering: false, reason: 'NO_MATCH' },
        { bot: { name: 'price' }, isAnswering: true, reason: null },
        { bot: { name: 'any' }, isAnswering: false, reason: 'ANOTHER_ANSWERS' },
      ],
    });
    expect((await ask({ text: 'Price?', isFirstMessage: true })).answers[0].bot.name).toBe('welcome');
    expect(await ask({ text: 'STOP' })).toMatchObject({ silence: 'OPT_WORD', answers: [] });
    expect(await of.replies()).toEqual([]);
    expect(dataOf(await of.ask('{ messages { totalCount } }')).messages.totalCount).toBe(0);
  });

  test('with a contact fills merge fields and considers cool-downs, hand-over and opt-out', async () => {
    const of = await fixture.tenant();
    const reply = text('Hello @{contact_first_name} @{contact_first_name}');
    await of.bot({ name: 'cool', trigger: 'EXACT', keywords: ['hi'], cooldownSeconds: 3_600, reply });
    await of.bot({ name: 'welcome', trigger: 'FIRST_MESSAGE', priority: 1 });
    await of.bot({ name: 'shy', priority: -1, handOverMinutes: 30, reply });
    const { globalId: contact, phone: person } = await seedOf(fixture.gateway, of).contact({
      firstName: '@{contact_email}',
    });
    const ask = async (text: string) => dataOf(await of.ask(TEST, { text, contactId: contact })).previewBot;
    const names = async (text: string) =>
      (await ask(text)).answers.map((one: { bot: { name: string } }) => one.bot.name);
    expect(await names('hi')).toEqual(['welcome']);
    await of.hears(person, 'hi');
    await of.answers(person, 1);
    expect(await names('hi')).toEqual(['cool']);
    // Values are merged once: they are not texts of ours.
    expect((await ask('hi')).answers[0].reply.body).toBe('Hello @{contact_email} @{contact_email}');
    await of.hears(person, 'hi');
    await of.answers(person, 2);
    expect(await names('hi')).toEqual(['shy']);
    dataOf(
      await of.ask(
        'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "A person" } } }) { message { id } userErrors { code message path } } }',
        {
          to: person,
        },
      ),
    );
    expect((await ask('hi')).bots).toMatchObject([
      { reason: 'NO_MATCH' },
      { reason: 'COOLING_DOWN' },
      { reason: 'HANDED_OVER' },
    ]);
    await fixture.pass(31 * MINUTE);
    expect(await names('hi')).toEqual(['shy']);
    expect(await ask('start')).toMatchObject({ silence: null });
    dataOf(
      await of.ask('mutation ($id: ID!) { updateContact(input: { id: $id, isOptedOut: true }) { contact { id } } }', {
        id: contact,
      }),
    );
    expect(await ask('hi')).toMatchObject({
      silence: 'OPTED_OUT',
      answers: [],
      bots: [{}, {}, { reason: null, isAnswering: false }],
    });
    expect(await ask('start')).toMatchObject({ silence: 'OPT_WORD' });
  });

  test('requires the scope contacts:read for a contact', async () => {
    const token = await fixture.gateway.addToken(owner, { scopes: ['bots:read'] });
    const id = encodeGlobalId('Contact', owner.id, 1);
    expect(codeOf(await fixture.gateway.graphql(TEST, { text: 'x', contactId: id }, token))).toBe('INSUFFICIENT_SCOPE');
    expect(codeOf(await fixture.gateway.graphql(TEST, { text: 'x' }, token))).toBeUndefined();
  });
});

test('bot.replied contains the bot as it was, and requires the scope bots:read', async () => {
  const of = await fixture.tenant();
  const reply = { interactive: { body: 'x', ctaUrl: { displayText: 'Open', url: 'https://example.com' } } };
  const id = await of.bot({ reply });
  const query = `subscription ($filter: EventFilter) {
    events(filter: $filter) { id type ... on BotEvent { bot { databaseId reply { ${REPLY} } } rule { trigger keyword } contact { databaseId } message { databaseId } replyMessage { databaseId } } }
  }`;
  const others = await fixture.gateway.addToken(of, { scopes: ['events:read', 'messages:read'] });
  const [mine, theirs] = [
    await follow(fixture.gateway.url, of.token, { query, types: ['bot.*'] }),
    await follow(fixture.gateway.url, others, { query: EVENTS }),
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
      bot: { databaseId: String(id), reply: (await read(id, of)).reply },
      rule: { trigger: 'ANY', keyword: null },
      contact: { databaseId: expect.anything() },
      message: { databaseId: noted?.message_id },
      replyMessage: { databaseId: noted?.reply_message_id },
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

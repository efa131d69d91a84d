import type { TemplateSeed } from '../emulator/template-store.ts';

/** Approved templates of each category: with a text, a picture, buttons of each kind that answers or opens a page, and a code. */
export const DEMO_TEMPLATES: readonly TemplateSeed[] = [
  {
    name: 'hello_world',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Hello World' },
      { type: 'BODY', text: 'Welcome, and congratulations! This message shows that you can send a template.' },
      { type: 'FOOTER', text: 'Parley Demo' },
    ],
  },
  {
    name: 'order_shipped',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Hi {{1}}, your order {{2}} is on its way.', example: { body_text: [['Ana', '4711']] } },
      {
        type: 'BUTTONS',
        buttons: [{ type: 'URL', text: 'Track it', url: 'https://example.com/track/{{1}}', example: ['4711'] }],
      },
    ],
  },
  {
    name: 'weekly_news',
    language: 'en_US',
    category: 'MARKETING',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'News of the week' },
      {
        type: 'BODY',
        text: 'Hi {{1}}, the autumn collection is here. Show this message in the shop for *10 % off* until {{2}}.',
        example: { body_text: [['Ana', 'Sunday']] },
      },
      { type: 'FOOTER', text: 'Parley Demo' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Tell me more' },
          { type: 'QUICK_REPLY', text: 'Stop promotions' },
        ],
      },
    ],
  },
  {
    name: 'new_arrivals',
    language: 'en_US',
    category: 'MARKETING',
    components: [
      // As the network lists it: the address of the example that was uploaded. Each send names its own picture.
      { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://example.com/new-arrivals.jpg'] } },
      { type: 'BODY', text: 'New this week, {{1}}: have a look at our favourites.', example: { body_text: [['Ana']] } },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'URL', text: 'See them all', url: 'https://example.com/new' },
          { type: 'PHONE_NUMBER', text: 'Call the shop', phone_number: '+15550783881' },
        ],
      },
    ],
  },
  {
    name: 'login_code',
    language: 'en',
    category: 'AUTHENTICATION',
    components: [
      {
        type: 'BODY',
        text: '*{{1}}* is your verification code.',
        add_security_recommendation: true,
        example: { body_text: [['123456']] },
      },
      { type: 'FOOTER', code_expiration_minutes: 10 },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'URL',
            text: 'Copy code',
            url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}',
            example: ['123456'],
          },
        ],
      },
    ],
  },
];

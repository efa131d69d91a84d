import type { TemplateSeed } from '../../../src/emulator/template-store.ts';

const seed = (
  name: string,
  components: TemplateSeed['components'],
  others: Partial<TemplateSeed> = {},
): TemplateSeed => ({
  name,
  language: 'en_US',
  category: 'UTILITY',
  components,
  ...others,
});
const BODY = (text: string) => ({ type: 'BODY', text });

/** Templates of every make. */
export const TEMPLATES: readonly TemplateSeed[] = [
  seed('plain', [BODY('Your shop is open.')]),
  seed('order', [
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' },
    BODY('Hello {{1}}, order {{2}} is on its way, {{1}}.'),
    { type: 'FOOTER', text: 'Reply STOP to end' },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'Thanks' },
        { type: 'URL', text: 'Track', url: 'https://shop.example/track/{{1}}' },
        { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550783881' },
      ],
    },
  ]),
  seed('order', [BODY('Hallo {{1}}, Bestellung {{2}} ist da.')], { language: 'de' }),
  seed(
    'named',
    [{ type: 'HEADER', format: 'TEXT', text: 'Hi {{nick}}' }, BODY('Dear {{first_name}}, {{thing}} is here.')],
    { parameterFormat: 'NAMED' },
  ),
  seed('picture', [{ type: 'HEADER', format: 'IMAGE' }, BODY('Look!')]),
  seed('paper', [{ type: 'HEADER', format: 'DOCUMENT' }, BODY('Your invoice.')]),
  seed('place', [{ type: 'HEADER', format: 'LOCATION' }, BODY('Here we are.')]),
  seed('coupon', [BODY('For you.'), { type: 'BUTTONS', buttons: [{ type: 'COPY_CODE', example: 'X' }] }]),
  seed('paused', [BODY('Sorry.')], { status: 'PAUSED' }),
  seed(
    'code',
    [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 10 },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
    ],
    { category: 'AUTHENTICATION' },
  ),
];

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CodedError } from '../../../src/core/errors.ts';
import { checkDefinition, type DefinitionInput } from '../../../src/features/templates/definition.ts';
import { missingValuesOf } from '../../../src/features/templates/sending/parameters.ts';
import { componentsOf, render } from '../../../src/features/templates/sending/render.ts';
import { codeExpirationOf, fill, partsOf, variablesOf } from '../../../src/features/templates/template.ts';

const BODY = { type: 'BODY', text: 'Hello {{1}}, welcome.' };
const definition = (changes: Partial<DefinitionInput>): DefinitionInput => ({
  name: 'order_1',
  language: 'en-US',
  category: 'UTILITY',
  parameterFormat: 'POSITIONAL',
  components: [BODY],
  ...changes,
});
const buttons = (...list: object[]) => definition({ components: [BODY, { type: 'BUTTONS', buttons: list }] });
const REPLY = { type: 'QUICK_REPLY', text: 'Yes' };
const LINK = { type: 'URL', text: 'Go', url: 'https://x.example/{{1}}' };
const CALL = { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550783881' };
const code = (...components: object[]) => definition({ category: 'AUTHENTICATION', components });

function faultsOf(work: () => unknown): Record<string, readonly string[]> {
  try {
    work();
  } catch (error) {
    return (error as CodedError).details as Record<string, readonly string[]>;
  }
  return {};
}

describe('a definition', () => {
  test('within all limits is accepted and normalized to the network’s format', () => {
    const components = [
      { type: 'header', format: 'TEXT', text: 'x'.repeat(60) },
      { type: 'body', text: 'x'.repeat(1_024) },
      { type: 'FOOTER', text: '😀'.repeat(60) },
      { type: 'BUTTONS', buttons: [REPLY, REPLY, LINK, LINK, CALL, { type: 'COPY_CODE', example: 'x'.repeat(15) }] },
      { type: 'CAROUSEL', cards: [] },
    ];
    const checked = checkDefinition(definition({ name: 'x'.repeat(512), components }));
    expect(checked.language).toBe('en_US');
    expect(checked.components.map(component => component['type'])).toEqual([
      'HEADER',
      'BODY',
      'FOOTER',
      'BUTTONS',
      'CAROUSEL',
    ]);
    expect(
      faultsOf(() =>
        checkDefinition(
          code(
            { type: 'BODY', add_security_recommendation: true },
            { type: 'FOOTER', code_expiration_minutes: 90 },
            { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
          ),
        ),
      ),
    ).toEqual({});
    expect(
      faultsOf(() =>
        checkDefinition(
          definition({ parameterFormat: 'NAMED', components: [{ type: 'BODY', text: 'Dear {{first_name}}!' }] }),
        ),
      ),
    ).toEqual({});
  });

  test.each<[string, DefinitionInput, string]>([
    ['a name with capitals', definition({ name: 'Order' }), 'name'],
    ['a name that is too long', definition({ name: 'x'.repeat(513) }), 'name'],
    ['no language', definition({ language: 'English' }), 'language'],
    ['no body', definition({ components: [] }), 'components'],
    ['two bodies', definition({ components: [BODY, BODY] }), 'components.1'],
    ['a component without a type', definition({ components: [BODY, {}] }), 'components.1.type'],
    ['a component that is no object', definition({ components: [BODY, 'x'] }), 'components.1.type'],
    ['an empty text', definition({ components: [{ type: 'BODY', text: ' ' }] }), 'components.0.text'],
    [
      'a body that is too long',
      definition({ components: [{ type: 'BODY', text: 'x'.repeat(1_025) }] }),
      'components.0.text',
    ],
    ['a variable in front', definition({ components: [{ type: 'BODY', text: '{{1}} hello' }] }), 'components.0.text'],
    [
      'a variable at the end',
      definition({ components: [{ type: 'BODY', text: 'hello {{1}} ' }] }),
      'components.0.text',
    ],
    [
      'a gap in the numbers',
      definition({ components: [{ type: 'BODY', text: 'a {{1}} b {{3}} c' }] }),
      'components.0.text',
    ],
    ['names among numbers', definition({ components: [{ type: 'BODY', text: 'a {{name}} b' }] }), 'components.0.text'],
    [
      'capitals in a name',
      definition({ parameterFormat: 'NAMED', components: [{ type: 'BODY', text: 'a {{Name}} b' }] }),
      'components.0.text',
    ],
    [
      'a header that is too long',
      definition({ components: [{ type: 'HEADER', text: 'x'.repeat(61) }, BODY] }),
      'components.0.text',
    ],
    [
      'two variables in a header',
      definition({ components: [{ type: 'HEADER', format: 'TEXT', text: '{{1}} {{2}}' }, BODY] }),
      'components.0.text',
    ],
    [
      'a picture without an example',
      definition({ components: [{ type: 'HEADER', format: 'image' }, BODY] }),
      'components.0.example',
    ],
    [
      'a footer that is too long',
      definition({ components: [BODY, { type: 'FOOTER', text: 'x'.repeat(61) }] }),
      'components.1.text',
    ],
    [
      'a variable in a footer',
      definition({ components: [BODY, { type: 'FOOTER', text: 'x {{1}}' }] }),
      'components.1.text',
    ],
    ['U+0000', definition({ components: [{ type: 'BODY', text: 'a\0b' }] }), 'components'],
    ['no buttons', buttons(), 'components.1.buttons'],
    ['eleven buttons', buttons(...Array.from({ length: 11 }, () => REPLY)), 'components.1.buttons'],
    ['three links', buttons(LINK, LINK, LINK), 'components.1.buttons'],
    ['two phone numbers', buttons(CALL, CALL), 'components.1.buttons'],
    ['quick replies apart', buttons(REPLY, LINK, REPLY), 'components.1.buttons'],
    ['a button without a type', buttons({ text: 'x' }), 'components.1.buttons.0.type'],
    ['a button without a text', buttons({ type: 'QUICK_REPLY' }), 'components.1.buttons.0.text'],
    ['a button text that is too long', buttons({ ...REPLY, text: 'x'.repeat(26) }), 'components.1.buttons.0.text'],
    ['an address that is too long', buttons({ ...LINK, url: 'x'.repeat(2_001) }), 'components.1.buttons.0.url'],
    ['two variables in an address', buttons({ ...LINK, url: 'https://x/{{1}}/{{2}}' }), 'components.1.buttons.0.url'],
    ['a variable within an address', buttons({ ...LINK, url: 'https://x/{{1}}/y' }), 'components.1.buttons.0.url'],
    [
      'a number that is too long',
      buttons({ ...CALL, phone_number: '1'.repeat(21) }),
      'components.1.buttons.0.phone_number',
    ],
    [
      'an example that is too long',
      buttons({ type: 'COPY_CODE', example: 'x'.repeat(16) }),
      'components.1.buttons.0.example',
    ],
    ['a text of one’s own for a code', code({ type: 'BODY', text: 'x' }), 'components.0.text'],
    ['a header for a code', code({ type: 'HEADER', format: 'IMAGE' }, { type: 'BODY' }), 'components.0'],
    [
      'a code that is good for 91 minutes',
      code({ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 91 }),
      'components.1.code_expiration_minutes',
    ],
    [
      'a signature of ten characters',
      code({ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', signature_hash: 'x'.repeat(10) }] }),
      'components.1.buttons.0.signature_hash',
    ],
    [
      'six apps',
      code({ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', supported_apps: Array(6).fill({}) }] }),
      'components.1.buttons.0.supported_apps',
    ],
  ])('with %s is refused under its place', (_what, input, field) => {
    expect(Object.keys(faultsOf(() => checkDefinition(input)))).toEqual([field]);
  });

  test('of arbitrary JSON is accepted or rejected without an internal error', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.jsonValue({ maxDepth: 3 }),
            fc.record(
              {
                type: fc.constantFrom('BODY', 'HEADER', 'FOOTER', 'BUTTONS', 'X'),
                text: fc.jsonValue(),
                buttons: fc.jsonValue(),
              },
              { requiredKeys: [] },
            ),
          ),
        ),
        components => {
          for (const category of ['UTILITY', 'AUTHENTICATION'])
            try {
              checkDefinition(definition({ components, category }));
            } catch (error) {
              expect((error as CodedError).code).toBe('VALIDATION_ERROR');
            }
        },
      ),
    );
  });
});

const NAME = fc.stringMatching(/^[a-z_]{1,8}$/);
const WORDS = fc.string({ maxLength: 12 }).map(text => text.replace(/[{}]/g, ''));
const VALUE = fc.string({ minLength: 1, maxLength: 30 }).filter(text => text.trim() !== '');

describe('the variables of a text', () => {
  test('are found once each, and filling them leaves the rest unchanged', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(WORDS, NAME), { maxLength: 6 }),
        WORDS,
        fc.dictionary(NAME, VALUE),
        (pieces, end, extra) => {
          const names = [...new Set(pieces.map(([, name]) => name))];
          const text = pieces.map(([words, name]) => `${words}{{${name}}}`).join('') + end;
          expect(variablesOf(text)).toEqual(names);
          const values = new Map([
            ...Object.entries(extra),
            ...names.map((name, index) => [name, `{{${name}}}<${index}>`] as const),
          ]);
          expect(fill(text, values)).toBe(pieces.map(([words, name]) => `${words}${values.get(name)}`).join('') + end);
        },
      ),
    );
  });

  test('are in ascending order if they are numbers', () =>
    expect(variablesOf('{{10}} {{2}} {{ 1 }} {{2}}')).toEqual(['1', '2', '10']));
});

/** A template with its right values, in both ways of naming them. */
const FITTING = fc
  .record({
    names: fc.uniqueArray(NAME, { maxLength: 5 }),
    named: fc.boolean(),
    headerVariable: fc.boolean(),
    links: fc.integer({ min: 0, max: 2 }),
  })
  .chain(({ names, named, headerVariable, links }) =>
    fc
      .record({
        values: fc.array(VALUE, { minLength: names.length, maxLength: names.length }),
        header: VALUE,
        urls: fc.array(VALUE, { minLength: links, maxLength: links }),
      })
      .map(given => {
        const variables = named ? names : names.map((_, index) => String(index + 1));
        const body = `Dear${variables.map(name => ` {{${name}}}`).join(',')}.`;
        const components = [
          ...(headerVariable ? [{ type: 'HEADER', format: 'TEXT', text: `Re: {{${named ? 'topic' : '1'}}}` }] : []),
          { type: 'BODY', text: body },
          { type: 'BUTTONS', buttons: [REPLY, ...given.urls.map(() => LINK)] },
        ];
        return {
          template: { category: 'UTILITY', components, parameter_format: named ? 'NAMED' : 'POSITIONAL' },
          variables,
          values: {
            ...(headerVariable && { header: { text: given.header } }),
            body: given.values,
            buttons: given.urls.map((value, index) => ({ index: index + 1, value })),
          },
        };
      }),
  );

describe('values that fit a template', () => {
  test('are accepted, rendered into its text, and sent in the order of its variables', () => {
    fc.assert(
      fc.property(FITTING, ({ template, variables, values }) => {
        const filling = missingValuesOf(template, values);
        const text = (field: string) => filling.texts[field]?.text ?? '?';
        const rendered = render(filling, text, { link: null, filename: null });
        expect(rendered.body).toBe(`Dear${values.body.map(value => ` ${value}`).join(',')}.`);
        expect(rendered.header?.text ?? null).toBe(values.header ? `Re: ${values.header.text}` : null);
        expect(rendered.buttons.slice(1).map(button => button.url)).toEqual(
          values.buttons.map(({ value }) => `https://x.example/${encodeURIComponent(value.toWellFormed())}`),
        );
        const components = componentsOf(filling, text, undefined);
        const body = components.find(component => component['type'] === 'body');
        const named = template.parameter_format === 'NAMED';
        expect(body?.['parameters'] ?? []).toEqual(
          variables.map((name, index) => ({
            type: 'text',
            ...(named && { parameter_name: name }),
            text: values.body[index],
          })),
        );
        expect(components.filter(component => component['type'] === 'button')).toHaveLength(values.buttons.length);
      }),
    );
  });

  test('are rejected by field if one is missing or surplus', () => {
    fc.assert(
      fc.property(FITTING, fc.nat(), ({ template, values }, pick) => {
        expect(
          Object.keys(faultsOf(() => missingValuesOf(template, { ...values, body: [...values.body, 'x'] }))),
        ).toEqual([`body.${values.body.length}`]);
        if (values.body.length > 0)
          expect(
            Object.keys(faultsOf(() => missingValuesOf(template, { ...values, body: values.body.slice(0, -1) }))),
          ).toEqual([`body.${values.body.length - 1}`]);
        if (values.header)
          expect(Object.keys(faultsOf(() => missingValuesOf(template, { ...values, header: {} })))).toEqual([
            'header.text',
          ]);
        const missing = values.buttons[pick % Math.max(1, values.buttons.length)];
        if (missing)
          expect(
            Object.keys(
              faultsOf(() =>
                missingValuesOf(template, { ...values, buttons: values.buttons.filter(button => button !== missing) }),
              ),
            ),
          ).toEqual([`buttons.${missing.index}`]);
      }),
    );
  });
});

test('a template of arbitrary JSON has parts, and accepts or rejects values', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.dictionary(
          fc.constantFrom('type', 'text', 'format', 'buttons', 'code_expiration_minutes'),
          fc.oneof(fc.constantFrom('BODY', 'HEADER', 'BUTTONS', 'FOOTER', 'TEXT', '{{1}}'), fc.jsonValue()),
        ),
      ),
      components => {
        const template = { category: 'AUTHENTICATION', components, parameter_format: 'POSITIONAL' };
        partsOf(template);
        codeExpirationOf(template);
        try {
          render(missingValuesOf(template, { body: ['1'] }), () => '1', { link: null, filename: null });
        } catch (error) {
          expect((error as CodedError).code).toBe('VALIDATION_ERROR');
        }
      },
    ),
  );
});

import { describe, expect, test } from 'vitest';
import arabic from '../../src/dashboard/texts/ar.json' with { type: 'json' };
import german from '../../src/dashboard/texts/de.json' with { type: 'json' };
import english from '../../src/dashboard/texts/en.json' with { type: 'json' };
import { FIELDS } from '../../src/features/contacts/contact.ts';
import type { ErasedKind, RetainedKind } from '../../src/features/contacts/erasure/receipt.ts';
import { MOVED_TABLES, OTHER_TABLES } from '../../src/features/contacts/merging/moved-tables.ts';
import { kindOf } from '../../src/features/contacts/merging/store.ts';

type Texts = Readonly<Record<string, string>>;

const RETAINED = { opt_out: true, event: true, network_webhook: true, usage: true } satisfies Record<
  RetainedKind,
  true
>;
const ERASED = {
  contact: true,
  conversation: true,
  message: true,
  message_cancelled: true,
  message_in_flight: true,
  file: true,
  otp: true,
  event: true,
  network_webhook: true,
  webhook_delivery: true,
  webhook_delivery_cancelled: true,
  idempotency_key: true,
  order_payload: true,
  file_name: true,
  export: true,
} satisfies Record<ErasedKind, true>;

const missing = (keys: readonly string[]): string[] => keys.filter(key => !(key in english));

describe('the texts of the dashboard', () => {
  test.each([
    ['German', german as Texts],
    ['Arabic', arabic as Texts],
  ])('%s has each of the English ones, with the same values in them', (_, texts) => {
    const valuesOf = (text = ''): string[] => [...new Set(text.match(/\{\w+\}/g))].sort();
    expect(Object.keys(english).filter(key => !(key in texts))).toEqual([]);
    // Forms of the plural are the language's own, and may say a number in words.
    const base = Object.entries(english).filter(([key]) => !/\.(zero|one|two|few|many)$/.test(key));
    expect(base.filter(([key, text]) => String(valuesOf(text)) !== String(valuesOf(texts[key])))).toEqual([]);
  });

  test('name every kind of data of erasure receipts, and say why data is kept', () => {
    expect(missing([...Object.keys(ERASED), ...Object.keys(RETAINED)].map(kind => `dataKind.${kind}`))).toEqual([]);
    expect(missing(Object.keys(RETAINED).map(kind => `retained.${kind}`))).toEqual([]);
  });

  test('name every kind of data that a merge moves, and every field that it compares', () => {
    const tables = [...MOVED_TABLES.map(({ table }) => table), ...OTHER_TABLES, 'folded_conversations'];
    expect(missing(tables.map(table => `dataKind.${kindOf(table)}`))).toEqual([]);
    expect(missing(Object.values(FIELDS).map(({ name }) => `field.${name.replace(/Id$/, '')}`))).toEqual([]);
  });
});

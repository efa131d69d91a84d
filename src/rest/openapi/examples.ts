import type { JsonSchema } from './shape.ts';

/** What fields of these names look like, so that a page of documentation reads like a conversation and not like a type. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  id: 1207,
  name: 'VIP',
  firstname: 'Ana',
  lastname: 'Silva',
  company: 'Silva Flowers',
  email: 'ana.silva@example.com',
  phone: '+14155550123',
  city: 'San Francisco',
  state: 'CA',
  zip: '94103',
  address: '1 Market Street',
  country_id: 840,
  color: '#2E7D32',
  message: 'Hello @{contact_first_name}, your order is on its way.',
  message_id: 'wamid.HBgLMTQxNTU1NTAxMjMVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
  chat_message_id: '019b7a2e-5f5c-7d1e-9a44-0c6f7a1f3b52',
  groups: [3, 4],
  contact_ids: [1207, 1208],
};

/** A schema's `examples` for a field of this name, where there is one of this type. */
export function exampleOf(name: string, type: 'string' | 'integer' | 'array'): JsonSchema {
  const example = Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined;
  const is = Array.isArray(example) ? 'array' : typeof example === 'number' ? 'integer' : 'string';
  return example !== undefined && is === type ? { examples: [example] } : {};
}

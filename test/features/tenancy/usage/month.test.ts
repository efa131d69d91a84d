import { expect, test } from 'vitest';
import { monthOf } from '../../../../src/features/tenancy/usage/usage.ts';

test('a month begins at midnight UTC', () => {
  expect(monthOf(Date.parse('2026-12-31T23:59:59.999Z'))).toBe('2026-12-01');
  expect(monthOf(Date.parse('2027-01-01T00:00:00Z'))).toBe('2027-01-01');
});

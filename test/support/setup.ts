import { afterAll, expect } from 'vitest';
import { faults } from './statements.ts';

afterAll(() => {
  // The fence between tenants holds for every statement of every test.
  const found = [...faults];
  // The next file of this worker finds the same modules.
  faults.clear();
  expect(found).toEqual([]);
});

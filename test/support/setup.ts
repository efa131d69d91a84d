import { afterAll, expect } from 'vitest';
import { faults } from './statements.ts';

afterAll(() => {
  // The fence between tenants holds for every statement of every test.
  expect([...faults]).toEqual([]);
});

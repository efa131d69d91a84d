import { afterAll, expect } from 'vitest';
import { faults } from './gateway.ts';

afterAll(() => {
  // The fence between tenants holds for every statement of every test.
  expect([...faults]).toEqual([]);
});

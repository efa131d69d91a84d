import { afterAll, expect } from 'vitest';
import { faults } from './statements.ts';

afterAll(() => {
  // Every statement of every test restricts its tables to a tenant (tenant-check.ts).
  const found = [...faults];
  // The next test file of this worker uses the same modules.
  faults.clear();
  expect(found).toEqual([]);
});

import { afterAll, expect } from 'vitest';
import { tenantFaults } from './statements.ts';

afterAll(() => {
  // Every statement of every test restricts its tables to a tenant (tenant-check.ts).
  const found = [...tenantFaults];
  // The next test file of this worker uses the same modules.
  tenantFaults.clear();
  expect(found).toEqual([]);
});

import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** Tests that need Chromium: `npm run test:browser`. It is looked for at /usr/bin/chromium, or where CHROMIUM says. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [] } },
  defineConfig({ test: { root: '.', include: ['test/browser/**/*.test.ts'] } }),
);

import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

const { projects: _, ...shared } = base.test ?? {};

/** Tests that need Chromium: `npm run test:browser`. It is looked for at /usr/bin/chromium, or where CHROMIUM says. */
export default mergeConfig(
  { ...base, test: shared },
  defineConfig({
    test: {
      root: '.',
      include: ['test/browser/**/*.test.ts'],
      globalSetup: ['test/support/global-setup.ts', 'test/browser/build-dashboard.ts'],
    },
  }),
);

// Builds the dashboard into dist/dashboard: run by `npm ci` (the script `prepare`), `npm run build` and the tests in a browser.
// An installation without the tools (`npm ci --omit=dev`) keeps what is built already.
import { fileURLToPath } from 'node:url';

const vite = await import('vite').catch(error => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
});
if (vite)
  await vite.build({ configFile: fileURLToPath(new URL('./vite.config.ts', import.meta.url)), logLevel: 'warn' });

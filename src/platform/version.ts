import { createRequire } from 'node:module';

const manifest: { readonly version: string } = createRequire(import.meta.url)('../../package.json');

/** Version of this program, for example `1.2.0`. */
export const VERSION = manifest.version;

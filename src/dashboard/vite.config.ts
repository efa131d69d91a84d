import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const OUT = join(import.meta.dirname, '../../dist/dashboard');

/** Writes `.br` and `.gz` beside each text file, so that the gateway compresses nothing for a page. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  async closeBundle() {
    const names = await readdir(OUT, { recursive: true });
    await Promise.all(names.filter(name => /\.(js|css|html|svg)$/.test(name)).map(name => compress(join(OUT, name))));
  },
};

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content));
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
}

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    // The content security policy allows no data URLs for scripts and styles.
    assetsInlineLimit: 0,
  },
  plugins: [compressed],
});

import { hash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { formatDocument } from '@urql/core';
import { type DefinitionNode, type FragmentDefinitionNode, Kind, parse, print, visit } from 'graphql';
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

const MODULE = 'virtual:documents';

/**
 * Publishes the documents of the page with the build: `documents.json` has their texts for the gateway, and the module
 * `virtual:documents` their ids for the page. Texts have the `__typename` of each object, which the cache needs.
 */
const documents: Plugin = {
  name: 'documents',
  apply: 'build',
  resolveId: id => (id === MODULE ? `\0${MODULE}` : undefined),
  async load(id) {
    if (id !== `\0${MODULE}`) return undefined;
    const texts = await readDocuments();
    const ids = Object.fromEntries([...texts].map(([name, text]) => [name, `sha256:${hash('sha256', text)}`]));
    return `export const DOCUMENT_IDS = ${JSON.stringify(ids)};`;
  },
  async writeBundle() {
    const texts = [...(await readDocuments()).values()];
    const byHash = Object.fromEntries(texts.map(text => [hash('sha256', text), text]));
    await writeFile(join(OUT, 'documents.json'), JSON.stringify(byHash));
  },
};

/** The operations in the .graphql files, each with its fragments, by name. */
async function readDocuments(): Promise<Map<string, string>> {
  const names = (await readdir(import.meta.dirname, { recursive: true })).filter(name => name.endsWith('.graphql'));
  const texts = await Promise.all(names.sort().map(name => readFile(join(import.meta.dirname, name), 'utf8')));
  const definitions = texts.flatMap(text => parse(text).definitions);
  const fragments = new Map(
    definitions.filter(each => each.kind === Kind.FRAGMENT_DEFINITION).map(each => [each.name.value, each]),
  );
  const operations = definitions.filter(each => each.kind === Kind.OPERATION_DEFINITION);
  return new Map(
    operations.map(operation => {
      const used = new Set<FragmentDefinitionNode>();
      collect(operation, fragments, used);
      const document = formatDocument({ kind: Kind.DOCUMENT, definitions: [operation, ...used] });
      return [operation.name?.value ?? '', print(document)];
    }),
  );
}

/** Adds the fragments that a definition spreads, and those that they spread. */
function collect(
  definition: DefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  used: Set<FragmentDefinitionNode>,
): void {
  visit(definition, {
    FragmentSpread({ name }) {
      const fragment = fragments.get(name.value);
      if (!fragment || used.has(fragment)) return;
      used.add(fragment);
      collect(fragment, fragments, used);
    },
  });
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
  plugins: [documents, compressed],
});

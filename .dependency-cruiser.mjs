/**
 * The direction of imports (docs/architecture.md), type imports included. A folder may import what stands below it:
 * core ← platform, network, database ← events, lanes ← schema ← features ← http ← graphql ← rest ← app ← cli.
 */
const LAYERS = [
  ['core'],
  ['platform', 'network', 'database'],
  ['events', 'lanes'],
  ['schema'],
  ['features'],
  ['http'],
  ['graphql'],
  ['rest'],
  ['app'],
  ['cli'],
];

const inward = LAYERS.slice(0, -1).map((folders, index) => ({
  name: `${folders.join(', ')}: no imports from above`,
  severity: 'error',
  from: { path: `^src/(${folders.join('|')})/` },
  to: {
    path: `^src/(${LAYERS.slice(index + 1)
      .flat()
      .join('|')}|emulator)/`,
  },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...inward,
    { name: 'no circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'platform knows nothing of the domain',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/(core|network|database)/' },
    },
    {
      name: 'REST goes through GraphQL',
      severity: 'error',
      from: { path: '^src/rest/' },
      to: { path: '^src/(features|database|schema)/' },
    },
    {
      name: 'v1 and v2 share wire/ only',
      severity: 'error',
      from: { path: '^src/rest/(v[12])/' },
      to: { path: '^src/rest/v[12]/', pathNot: '^src/rest/$1/' },
    },
    {
      name: 'what both versions share knows neither',
      severity: 'error',
      from: { path: '^src/rest/(runtime|wire|openapi)/' },
      to: { path: '^src/rest/v[12]/' },
    },
    {
      name: 'a feature keeps its tables to itself',
      comment: 'Other features call its verbs and nouns, never its statements.',
      severity: 'error',
      from: { path: '^src/features/([^/]+)/' },
      to: { path: '^src/features/.*(store|\\.sql)\\.ts$', pathNot: '^src/features/$1/' },
    },
    {
      name: 'the client package stands alone',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { path: '^src/', pathNot: '^src/client/' },
    },
    {
      name: 'only the dashboard imports the client package',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(client|dashboard)/' },
      to: { path: '^src/client/' },
    },
    {
      name: 'the dashboard is a client as any other',
      severity: 'error',
      from: { path: '^src/dashboard/' },
      to: { path: '^src/', pathNot: '^src/(dashboard|client)/' },
    },
    {
      name: 'nothing of src imports the dashboard',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/dashboard/' },
      to: { path: '^src/dashboard/' },
    },
    {
      name: 'the emulator is for development',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(emulator|cli)/' },
      to: { path: '^src/emulator/' },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    includeOnly: '^src/',
    doNotFollow: { path: 'node_modules' },
  },
};

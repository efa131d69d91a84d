import { Command } from 'commander';

export function schemaCommand(): Command {
  return new Command('schema').description('print the GraphQL schema (SDL)').action(async () => {
    const [{ lexicographicSortSchema, printSchema }, { schema }] = await Promise.all([
      import('graphql'),
      import('../app/schema.ts'),
    ]);
    process.stdout.write(`${printSchema(lexicographicSortSchema(schema))}\n`);
  });
}

import { Command } from 'commander';
import { introspectionFromSchema } from 'graphql';

export function schemaCommand(): Command {
  return new Command('schema')
    .description('print the GraphQL schema (SDL)')
    .option('--json', 'print the result of an introspection query', false)
    .action(async ({ json }: { json: boolean }) => {
      const [{ printSdl }, { schema }] = await Promise.all([import('../schema/sdl.ts'), import('../app/schema.ts')]);
      process.stdout.write(
        json ? `${JSON.stringify({ data: introspectionFromSchema(schema) }, null, 2)}\n` : printSdl(schema),
      );
    });
}

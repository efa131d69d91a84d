import { Command } from 'commander';

export function schemaCommand(): Command {
  return new Command('schema').description('print the GraphQL schema (SDL)').action(async () => {
    const [{ printSdl }, { schema }] = await Promise.all([import('../schema/sdl.ts'), import('../app/schema.ts')]);
    process.stdout.write(printSdl(schema));
  });
}

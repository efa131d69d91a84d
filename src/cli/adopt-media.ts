import { resolve } from 'node:path';
import { Command } from 'commander';
import { adoptMedia, kindOf, placeOf } from '../app/media-marker.ts';
import { loadConfig } from '../config.ts';
import { withDatabase } from './database.ts';
import { print } from './print.ts';

export function adoptMediaCommand(): Command {
  return new Command('adopt-media')
    .description('make PARLEY_MEDIA_DIR, or the bucket, the store of files of this deployment')
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `
A deployment refuses to start with a directory or bucket that is not its own: usually a volume is not mounted. Run this after the files
were moved without their marker, were lost, or when another database takes them over. Two deployments must not share them.`,
    )
    .action(async ({ json }: { json: boolean }) => {
      const config = loadConfig();
      const { media } = config;
      await withDatabase(config, db => adoptMedia(media, db));
      const { s3, directory } = media;
      if (json) return print([s3 ? { bucket: s3.bucket, prefix: s3.prefix } : { directory: resolve(directory) }], true);
      process.stdout.write(`${placeOf(media)} is the ${kindOf(media)} of this deployment.\n`);
    });
}

import { resolve } from 'node:path';
import { Command } from 'commander';
import { adoptMedia } from '../app/media-marker.ts';
import { loadConfig } from '../config.ts';
import { UserError } from '../platform/user-error.ts';
import { withDatabase } from './database.ts';

export function adoptMediaCommand(): Command {
  return new Command('adopt-media')
    .description('make PARLEY_MEDIA_DIR the directory of files of this deployment')
    .addHelpText(
      'after',
      `
A deployment refuses to start with a directory of files that is not its own: usually a volume is not mounted. Run this after the files
were moved without their marker, were lost, or when a copy of a database takes over the files. Two deployments must not share a directory.`,
    )
    .action(async () => {
      const config = loadConfig();
      if (config.media.s3)
        throw new UserError('Files are kept in a bucket (PARLEY_MEDIA_S3_BUCKET): there is no directory to adopt.');
      await withDatabase(config, db => adoptMedia(config.media, db));
      process.stdout.write(`${resolve(config.media.directory)} is the directory of this deployment.\n`);
    });
}

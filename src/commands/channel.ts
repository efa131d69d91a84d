import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../config.ts';
import { CodedError } from '../errors.ts';
import type { ChannelRow } from '../features/channels/channel.ts';
import { connectChannel } from '../features/channels/connect.ts';
import { listChannels } from '../features/channels/store.ts';
import { requireTenant } from '../features/tenants/require.ts';
import { createCloudApiNetwork } from '../network/cloud-api/client.ts';
import { createSecretBox } from '../platform/crypto.ts';
import { createLog } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';
import { DEV_DIRECTORY, print, readFacts, secretKeyOf, withDatabase } from './database.ts';

const shown = (channel: ChannelRow) => ({
  id: channel.id,
  name: channel.name,
  number: channel.display_phone_number,
  phone_number_id: channel.phone_number_id,
  waba_id: channel.waba_id,
  default: channel.is_default ? 'yes' : '',
  status: channel.status,
  reason: channel.status_reason,
});

/** A secret on the command line can be read by every user of the machine while the command runs: `@file` reads it from a file. */
const secret = async (value: string): Promise<string> =>
  value.startsWith('@') ? (await readFile(value.slice(1), 'utf8')).trim() : value;

function rate(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1_000)
    throw new InvalidArgumentError('Must be a whole number from 1 to 1000.');
  return number;
}

interface ConnectOptions {
  readonly tenant: string;
  readonly name: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  readonly accessToken: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly messagesPerSecond?: number;
}

export function channelCommand(): Command {
  const command = new Command('channel').description('connect and list business numbers');

  command
    .command('connect')
    .description('connect a business number, or give a connected one new credentials (a paused channel resumes)')
    .requiredOption('--tenant <slug>', 'whose number it is')
    .requiredOption('--phone-number-id <id>', "the network's id of the number")
    .requiredOption('--waba-id <id>', "the network's id of the business account")
    .requiredOption('--access-token <token>', 'the system user token; @file reads it from a file')
    .requiredOption('--app-secret <secret>', 'the app secret that signs webhooks; @file reads it from a file')
    .requiredOption(
      '--verify-token <token>',
      'the word that you give the network for its check of the webhook address; @file reads it from a file',
    )
    .option('--name <name>', 'what you call it', 'WhatsApp')
    .option('--messages-per-second <n>', "how fast it may send (default: 80, the network's own limit)", rate)
    .action(async (options: ConnectOptions) => {
      const config = loadConfig();
      const facts = config.databaseUrl === undefined ? await readFacts(DEV_DIRECTORY) : undefined;
      const network = createCloudApiNetwork({
        baseUrl: facts?.emulatorUrl ?? config.network.baseUrl,
        version: config.network.version,
        log: createLog('silent'),
      });
      try {
        const channel = await withDatabase(config, async db => {
          const { tenant_id: tenantId } = await requireTenant(db.read, options.tenant);
          const secrets = createSecretBox(await secretKeyOf(config));
          return connectChannel({ db, network, secrets }, tenantId, {
            ...options,
            accessToken: await secret(options.accessToken),
            appSecret: await secret(options.appSecret),
            verifyToken: await secret(options.verifyToken),
            isSandbox: facts !== undefined,
          });
        });
        print([shown(channel)], false);
      } catch (error) {
        throw error instanceof CodedError ? new UserError(error.message, { cause: error }) : error;
      } finally {
        await network.close();
      }
    });

  command
    .command('list')
    .description('list the channels of a tenant')
    .requiredOption('--tenant <slug>', 'whose channels')
    .option('--json', 'as JSON', false)
    .action(async ({ tenant, json }: { tenant: string; json: boolean }) => {
      const channels = await withDatabase(loadConfig(), async db =>
        listChannels(db.read, (await requireTenant(db.read, tenant)).tenant_id),
      );
      print(channels.map(shown), json);
    });

  return command;
}

import { Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../config.ts';
import type { PublicChannel } from '../features/channels/channel.ts';
import { connectChannel, MAX_MESSAGES_PER_SECOND } from '../features/channels/connect.ts';
import { disconnectChannel } from '../features/channels/disconnect.ts';
import { PORTFOLIO_FAULT, PORTFOLIO_ID, setPortfolio } from '../features/channels/set-portfolio.ts';
import { MAX_REASON, reasonOf } from '../features/channels/status-reason.ts';
import { getChannels, listChannels } from '../features/channels/store.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { createCloudApiNetwork } from '../network/cloud-api/client.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, DEV_DIRECTORY, POLLED, readFacts, secretBoxOf, withDatabase } from './database.ts';
import { objectId, secretOf } from './option-values.ts';
import { print } from './print.ts';

const shown = (channel: PublicChannel) => ({
  id: channel.id,
  name: channel.name,
  number: channel.display_phone_number,
  phone_number_id: channel.phone_number_id,
  waba_id: channel.waba_id,
  portfolio_id: channel.portfolio_id ?? '',
  default: channel.is_default ? 'yes' : '',
  status: channel.status,
  reason: channel.status_reason,
});

function rate(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > MAX_MESSAGES_PER_SECOND)
    throw new InvalidArgumentError(`Must be a whole number from 1 to ${MAX_MESSAGES_PER_SECOND}.`);
  return number;
}

function portfolio(text: string): string {
  if (!PORTFOLIO_ID.test(text)) throw new InvalidArgumentError(PORTFOLIO_FAULT);
  return text;
}

const DISCONNECTED = 'Disconnected by the operator.';

interface DisconnectOptions {
  readonly tenant: string;
  readonly channel: number;
  readonly reason: string;
  readonly json: boolean;
}

interface PortfolioOptions {
  readonly tenant: string;
  readonly channel: number;
  readonly portfolioId: string;
  readonly json: boolean;
}

interface ConnectOptions {
  readonly tenant: string;
  readonly name: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  readonly portfolioId?: string;
  readonly accessToken: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly messagesPerSecond?: number;
  readonly json: boolean;
}

export function channelCommand(): Command {
  const command = new Command('channel').description('connect, disconnect and list business numbers');

  command
    .command('connect')
    .description('connect a business number, or replace the credentials of a connected one (a paused channel resumes)')
    .requiredOption('--tenant <slug>', 'slug of the tenant that owns the number')
    .requiredOption('--phone-number-id <id>', 'phone number id assigned by the network')
    .requiredOption('--waba-id <id>', 'WhatsApp Business Account id')
    .option(
      '--portfolio-id <id>',
      'the business portfolio that owns the account (default: as reported by the network)',
      portfolio,
    )
    .requiredOption('--access-token <token>', 'system user token, or @file to read it from a file')
    .requiredOption('--app-secret <secret>', 'app secret that signs webhooks, or @file to read it from a file')
    .requiredOption(
      '--verify-token <token>',
      'token for the verification of the webhook URL, or @file to read it from a file',
    )
    .option('--name <name>', 'display name of the channel', 'WhatsApp')
    .option('--messages-per-second <n>', "sending rate (default: 80, the network's limit)", rate)
    .option('--json', 'print JSON', false)
    .action(async ({ json, ...options }: ConnectOptions) => {
      const config = loadConfig();
      const facts = config.databaseUrl === undefined ? await readFacts(DEV_DIRECTORY) : undefined;
      const network = createCloudApiNetwork({
        baseUrl: facts?.emulatorUrl ?? config.network.baseUrl,
        version: config.network.version,
        log: createLog('silent'),
      });
      try {
        const channel = await changeDatabase(config, async db => {
          const { tenant_id: tenantId } = await requireTenant(db.read, options.tenant);
          const secrets = await secretBoxOf(config, db);
          return connectChannel({ db, network, secrets, clock: systemClock }, tenantId, {
            ...options,
            accessToken: await secretOf(options.accessToken),
            appSecret: await secretOf(options.appSecret),
            verifyToken: await secretOf(options.verifyToken),
            isSandbox: facts !== undefined,
          });
        });
        print([shown(channel)], json);
      } finally {
        await network.close();
      }
    });

  command
    .command('disconnect')
    .description('disconnect a business number: cancels waiting messages, keeps its history for the next connection')
    .requiredOption('--tenant <slug>', 'slug of the tenant that owns the number')
    .requiredOption('--channel <id>', 'channel id, as listed by `parley channel list`', objectId)
    .option('--reason <text>', `reason shown with the channel, at most ${MAX_REASON} characters`, DISCONNECTED)
    .option('--json', 'print JSON', false)
    .action(async ({ tenant, channel: channelId, reason, json }: DisconnectOptions) => {
      const checked = reasonOf(reason, DISCONNECTED);
      const { channel, cancelled } = await changeDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, tenant);
        return disconnectChannel({ db, ...POLLED }, tenantId, channelId, checked);
      });
      if (json) return print([{ ...shown(channel), cancelled }], true);
      print([shown(channel)], false);
      process.stdout.write(`${cancelled} waiting message(s) cancelled.\n`);
    });

  command
    .command('portfolio')
    .description('set which business portfolio owns the account of a number, if the network does not report it')
    .requiredOption('--tenant <slug>', 'slug of the tenant that owns the number')
    .requiredOption('--channel <id>', 'channel id, as listed by `parley channel list`', objectId)
    .requiredOption('--portfolio-id <id>', "the network's id of the portfolio", portfolio)
    .option('--json', 'print JSON', false)
    .action(async ({ json, ...options }: PortfolioOptions) => {
      const channels = await changeDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, options.tenant);
        const [channel] = await getChannels(db.write, tenantId, [options.channel]);
        if (!channel) throw new UserError(`There is no channel ${options.channel}; see \`parley channel list\`.`);
        await db.transaction(trx =>
          setPortfolio(trx, tenantId, channel.waba_id, options.portfolioId, systemClock.now()),
        );
        return listChannels(db.write, tenantId);
      });
      print(channels.map(shown), json);
    });

  command
    .command('list')
    .description('list the channels of a tenant')
    .requiredOption('--tenant <slug>', 'slug of the tenant')
    .option('--json', 'print JSON', false)
    .action(async ({ tenant, json }: { tenant: string; json: boolean }) => {
      const channels = await withDatabase(loadConfig(), async db =>
        listChannels(db.read, (await requireTenant(db.read, tenant)).tenant_id),
      );
      print(channels.map(shown), json);
    });

  return command;
}

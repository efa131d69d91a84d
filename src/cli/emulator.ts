import { Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../config.ts';
import { startEmulator } from '../emulator/emulator.ts';
import { createLog } from '../platform/log.ts';
import { DEMO_NETWORK } from './demo.ts';
import { DEMO_TEMPLATES } from './demo-templates.ts';
import { untilStopped } from './until-stopped.ts';

function port(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new InvalidArgumentError('Must be a port from 0 to 65535.');
  return number;
}

function httpUrl(text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new InvalidArgumentError('Must be an http or https URL.');
  return text;
}

interface Options {
  readonly port: number;
  readonly host: string;
  readonly webhookUrl?: string;
  readonly journal?: string;
}

export function emulatorCommand(): Command {
  return new Command('emulator')
    .description('run only the emulated network: a Cloud API server for gateways elsewhere (PARLEY_NETWORK_URL)')
    .option('--port <port>', 'port to listen on', port, 4010)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option(
      '--webhook-url <url>',
      'URL to post webhooks to, such as http://127.0.0.1:4000/network/cloud-api/webhook',
      httpUrl,
    )
    .option('--journal <file>', 'persist the state in this file across restarts')
    .option('--json', 'print JSON: one line, when it listens', false)
    .action(async ({ json, ...options }: Options & { readonly json: boolean }) => {
      const config = loadConfig();
      await untilStopped(config, async () => {
        const emulator = await startEmulator({
          ...options,
          appSecret: DEMO_NETWORK.appSecret,
          verifyToken: DEMO_NETWORK.verifyToken,
          numbers: [DEMO_NETWORK.number],
          templates: DEMO_TEMPLATES,
          log: createLog('warn'),
        });
        const { number, appSecret, verifyToken } = DEMO_NETWORK;
        const credentials = {
          phoneNumberId: number.phoneNumberId,
          wabaId: number.wabaId,
          accessToken: number.accessToken,
          appSecret,
          verifyToken,
        };
        if (json) process.stdout.write(`${JSON.stringify({ url: emulator.url, ...credentials })}\n`);
        else
          process.stdout.write(
            `The emulated network listens on ${emulator.url}, its control API on ${emulator.url}/_emulator/.\n${JSON.stringify(credentials, null, 2)}\n`,
          );
        return () => emulator.stop();
      });
    });
}

import { sync } from '../../../../src/features/templates/sync/sync.ts';
import type { HeldLane } from '../../../../src/lanes/held-lane.ts';
import type { NetworkTemplate } from '../../../../src/network/network.ts';
import type { TestGateway, TestTenant } from '../../../support/gateway.ts';

interface TemplateEvent {
  readonly type: string;
  readonly payload: { readonly template: Record<string, unknown>; readonly previous?: object };
}

export const templateEvents = ({ database }: TestGateway, { id }: TestTenant): Promise<TemplateEvent[]> =>
  database.query("select type, payload from events where tenant_id = $1 and type like 'template.%' order by xid, seq", [
    id,
  ]);

/** Each event in a few words: type, name, status and what was before. */
export const describedEvents = async (gateway: TestGateway, of: TestTenant) =>
  (await templateEvents(gateway, of)).map(
    ({ type, payload: { template: after, previous } }) =>
      [type.replace('template.', ''), after['name'], after['status'], ...(previous ? [previous] : [])] as const,
  );

export type Pages = readonly (readonly NetworkTemplate[] | Error | (() => Promise<void>))[];

/** A sync that reads these pages instead of the network's. An error breaks it off; a function is done in between. */
export async function readPages({ database, gateway }: TestGateway, of: TestTenant, pages: Pages, lane?: HeldLane) {
  const [channel] = await database.query<{ id: string }>('select id from channels where tenant_id = $1', [of.id]);
  const { resources } = gateway;
  async function* templatePages() {
    for (const page of pages) {
      if (page instanceof Error) throw page;
      if (typeof page === 'function') await page();
      else yield page;
    }
  }
  const network = { ...resources.network, templatePages };
  return sync({ ...resources, network }, of.id, { waba_id: of.wabaId, channel_id: Number(channel?.id) }, lane);
}

export const template = (name: string, changes: Partial<NetworkTemplate> = {}): NetworkTemplate => ({
  id: `90000000000${name.length}${name.charCodeAt(0)}`,
  name,
  language: 'en_US',
  category: 'UTILITY',
  status: 'APPROVED',
  statusReason: null,
  parameterFormat: 'POSITIONAL',
  quality: null,
  components: [{ type: 'BODY', text: `Text of ${name}` }],
  ...changes,
});

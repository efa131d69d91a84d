import { newIdAt } from '../../../../src/core/ids.ts';
import { storePrices } from '../../../../src/features/messages/pricing/store-prices.ts';
import { movePending } from '../../../../src/features/messages/statistics/statistics.sql.ts';
import { type AddressedStatus, applyStatuses } from '../../../../src/features/messages/statuses/apply-statuses.ts';
import type { MessageStatus } from '../../../../src/network/network.ts';
import type { Pricing } from '../../../../src/network/updates.ts';
import type { TestGateway } from '../../../support/gateway.ts';

/** A message as a naive count sees it. */
export interface Counted {
  readonly id: string;
  readonly created_at: Date;
  readonly status: string;
  readonly author: { readonly kind: string } | null;
  readonly country: string | null;
  readonly category: string | null;
  readonly is_billable: boolean | null;
  readonly code: number | null;
  readonly delivery_ms: number | null;
}

export interface Account {
  readonly gateway: TestGateway;
  readonly tenantId: number;
  readonly token: string;
  readonly channelId: number;
  /** Adds messages that wait to be sent. @returns their ids */
  add(
    messages: readonly { readonly at: string; readonly phone: string; readonly campaign?: number }[],
  ): Promise<string[]>;
  /** Applies statuses with prices, as one webhook. */
  apply(
    updates: readonly {
      readonly id: string;
      readonly status: MessageStatus;
      readonly at: string;
      readonly code?: number;
      readonly pricing?: Partial<Pricing>;
    }[],
  ): Promise<void>;
  /** All messages with what they are counted by. */
  naive(): Promise<Counted[]>;
  move(limit?: number): Promise<number>;
}

export async function accountOf(gateway: TestGateway): Promise<Account> {
  const tenant = await gateway.addTenant();
  const { db } = gateway.gateway.resources;
  const query = gateway.database.query;
  const [channel] = await query<{ id: string }>('select id from channels where tenant_id = $1', [tenant.id]);
  const channelId = Number(channel?.id);
  return {
    gateway,
    tenantId: tenant.id,
    token: tenant.token,
    channelId,
    add: async messages => {
      const rows = messages.map((message, place) => ({ ...message, id: newIdAt(Date.parse(message.at)), place }));
      await query(
        `with r as (select * from jsonb_to_recordset($2::jsonb) as r (id uuid, at timestamptz, phone text, campaign bigint)),
         c as (
           insert into contacts (tenant_id, phone, phone_key) select distinct $1::bigint, phone, substr(phone, 2) from r
           on conflict (tenant_id, phone_key) do update set phone = excluded.phone returning id, phone
         ), v as (
           insert into conversations (tenant_id, contact_id, channel_id) select $1, c.id, $3 from c
           on conflict (tenant_id, contact_id, channel_id) do update set contact_id = excluded.contact_id returning id, contact_id
         ), m as (
           insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, author, created_at)
           select $1, r.id, v.id, c.id, $3, 'outbound', 'text', 'x',
             jsonb_build_object('kind', case when r.campaign is null then 'token' else 'campaign' end, 'id', coalesce(r.campaign, 1), 'name', 'A'), r.at from r join c using (phone) join v on v.contact_id = c.id
         ), s as (
           insert into message_states (tenant_id, message_id, status, updated_at) select $1, id, 'queued', at from r
         )
         insert into message_updates (tenant_id, message_id, status, updated_at) select $1, id, 'queued', at from r`,
        [tenant.id, JSON.stringify(rows), channelId],
      );
      return rows.map(({ id }) => id);
    },
    apply: updates =>
      db.transaction(async trx => {
        const statuses = updates.map(
          ({ id, status, at, code }): AddressedStatus => ({
            messageId: id,
            wamid: `wamid.${id}`,
            status,
            at,
            ...(code !== undefined && { error: { code, title: 'Failed', details: '' } }),
          }),
        );
        await applyStatuses(trx, tenant.id, statuses, Date.now());
        const priced = updates.flatMap(({ id, status, pricing }) =>
          pricing
            ? [
                {
                  messageId: id,
                  wamid: `wamid.${id}`,
                  channelId,
                  status,
                  pricing: { model: 'PMP', type: null, category: null, isBillable: null, ...pricing },
                },
              ]
            : [],
        );
        await storePrices(trx, tenant.id, priced, Date.now());
      }),
    naive: () =>
      query<Counted & Record<string, unknown>>(
        `select m.id, m.created_at, s.status, m.author, s.country, p.category, p.is_billable, (s.error->>'code')::integer as code,
           (extract(epoch from s.delivered_at - coalesce(s.sent_at, m.created_at)) * 1000)::float8 as delivery_ms
         from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id
         left join message_pricing p on p.tenant_id = m.tenant_id and p.message_id = m.id where m.tenant_id = $1`,
        [tenant.id],
      ),
    move: limit => movePending(db.write, limit ?? 1_000),
  };
}

/** Adds a campaign and a template that messages can come from. */
export async function addSources({ gateway, tenantId }: Account): Promise<{ campaignId: number; templateId: number }> {
  const [row] = await gateway.database.query<{ campaign: string; template: string }>(
    `with c as (
       insert into campaigns (tenant_id, name, template, audience, author) values ($1, 'Autumn, all', '{}', '{}', '{}') returning id
     ), t as (
       insert into templates (tenant_id, waba_id, network_id, name, language, category, status, parameter_format, components)
       select $1, waba_id, 'costs-' || $1, 'autumn_sale', 'en', 'MARKETING', 'APPROVED', 'POSITIONAL', '[]' from channels where tenant_id = $1
       returning id
     )
     select c.id as campaign, t.id as template from c, t`,
    [tenantId],
  );
  return { campaignId: Number(row?.campaign), templateId: Number(row?.template) };
}

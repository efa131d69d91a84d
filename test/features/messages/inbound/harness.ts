import { expect } from 'vitest';
import { eventually, type TestGateway, type TestTenant } from '../../../support/gateway.ts';

/** The messages, conversations and events of a tenant, for what the network tells it. */
export interface Harness {
  readonly tenant: TestTenant;
  /** A person writes, and it is applied. @returns the wamid */
  write(input: object): Promise<string>;
  /** The network tells any change of the tenant's number, and it is applied. */
  tell(field: string, value: object): Promise<void>;
  /** Waits until everything told so far is applied. */
  settled(): Promise<void>;
  events(type: string): Promise<EventPayload[]>;
  messages(): Promise<Message[]>;
  query<Row extends Record<string, unknown>>(text: string, ...values: unknown[]): Promise<Row[]>;
}

export interface EventPayload {
  readonly message: Message & { readonly contact_id: number };
  readonly details?: Record<string, unknown>;
  readonly is_answerable?: false;
  readonly previous?: Record<string, unknown>;
  readonly reaction?: Record<string, unknown>;
  readonly edited_at?: string;
  readonly revoked_at?: string;
}

export interface Message extends Record<string, unknown> {
  readonly id: string;
  readonly wamid: string;
  readonly type: string;
  readonly direction: string;
  readonly status: string;
  readonly body: string | null;
  readonly content: Record<string, unknown>;
  readonly conversation_id: number | null;
}

export async function harnessFor(gateway: TestGateway): Promise<Harness> {
  const tenant = await gateway.addTenant();
  const control = async (path: string, body: object): Promise<Record<string, string>> => {
    const answer = await fetch(`${gateway.emulator.url}/_emulator/${path}`, {
      method: 'POST',
      body: JSON.stringify({ phoneNumberId: tenant.phoneNumberId, ...body }),
    });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, expect.any(String)]);
    return JSON.parse(text);
  };
  const harness: Harness = {
    tenant,
    async write(input) {
      const { wamid = '' } = await control('inbound', input);
      // The network delivers concurrently: what follows would overtake it.
      await harness.settled();
      return wamid;
    },
    async tell(field, value) {
      await control('changes', { field, value });
      await harness.settled();
    },
    async settled() {
      await gateway.emulator.settled();
      await eventually(async () =>
        expect(await harness.query('select 1 from waiting_webhooks where tenant_id = $1')).toEqual([]),
      );
    },
    async events(type) {
      const rows = await harness.query<{ payload: EventPayload }>(
        'select payload from events where tenant_id = $1 and type = $2 order by seq',
        type,
      );
      return rows.map(row => row.payload);
    },
    messages: () =>
      harness.query<Message>(
        `select m.*, s.status, s.wamid, s.sent_at from messages m
         join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id where m.tenant_id = $1 order by m.id`,
      ),
    query: (text, ...values) => gateway.database.query(text, [tenant.id, ...values]),
  };
  return harness;
}

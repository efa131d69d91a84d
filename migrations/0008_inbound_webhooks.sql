-- Webhooks of the network, stored as they came before they are answered with 200, and worked on afterwards.
-- The digest of the raw bytes makes a repeated delivery the same row.
create table inbound_webhooks (
  tenant_id bigint not null references tenants on delete cascade,
  digest bytea not null,
  id uuid not null,
  body bytea not null,
  received_at timestamptz(3) not null default now(),
  processed_at timestamptz(3),
  attempts integer not null default 0,
  error text,
  primary key (tenant_id, digest)
);
create index inbound_webhooks_waiting on inbound_webhooks (tenant_id, id) where processed_at is null;
create index inbound_webhooks_by_age on inbound_webhooks (received_at);

-- What was done under an idempotency key. The row is written in the transaction of its effect: a second request with the
-- same key waits for the first one's outcome at the primary key, and can then only replay it.
create table idempotency_keys (
  tenant_id bigint not null references tenants on delete cascade,
  key text not null check (length(key) between 1 and 255),
  operation text not null,
  fingerprint bytea not null, -- SHA-256 of the operation's input
  result jsonb,               -- what the operation made (ids), from which GraphQL answers again
  answer jsonb,               -- the REST answer, word for word, once it was given
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

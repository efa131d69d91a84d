-- Events that a reader of the log could not consume by an error of their own, kept until an operator retries them. Without foreign keys:
-- the missing row may be what the event fails by.
create table log_set_aside (
  tenant_id bigint not null,
  event_id uuid not null,
  reader text not null,
  error text not null,
  set_aside_at timestamptz(3) not null default now(),
  primary key (tenant_id, event_id, reader)
);

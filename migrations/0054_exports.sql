-- Files that an account made of its data. The table is the queue of the lanes that write them.
create table exports (
  tenant_id bigint not null references tenants on delete cascade,
  id uuid not null,
  state text not null default 'queued' check (state in ('queued', 'running', 'completed', 'failed', 'expired')),
  resource text not null check (resource in ('contacts', 'messages', 'contact')),
  file_type text not null check (file_type in ('csv', 'json')),
  filter jsonb,                     -- until the file is complete: it may name people
  contact_id bigint,                -- of the export of one person; no foreign key: the row outlives the person
  author jsonb not null,
  row_count bigint,
  error text,
  attempts integer not null default 0,
  due_at timestamptz(3),            -- while it is queued or running
  storage_key text,
  size bigint,
  sha256 bytea,
  created_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  expires_at timestamptz(3),        -- end of the file
  primary key (tenant_id, id),
  check ((state in ('queued', 'running')) = (due_at is not null)),
  check ((state = 'completed') = (storage_key is not null))
);
create index exports_due on exports (tenant_id, due_at) where due_at is not null;
create index exports_by_end on exports (expires_at) where state = 'completed';
create index exports_by_age on exports (created_at);

-- Whose data is in a file, some thousands of ids a row: erasing one of these people deletes the file.
create table export_people (
  tenant_id bigint not null,
  export_id uuid not null,
  part integer not null,
  contact_ids bigint[] not null,
  primary key (tenant_id, export_id, part),
  foreign key (tenant_id, export_id) references exports (tenant_id, id) on delete cascade
);

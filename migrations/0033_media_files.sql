-- Content that is kept, once per tenant and digest. Its bytes are in the file store under a key that is never reused, so that
-- deleting a content and storing the same one again do not interfere.
create table media_contents (
  tenant_id bigint not null references tenants on delete cascade,
  sha256 bytea not null check (octet_length(sha256) = 32),
  storage_key text not null,
  size bigint not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, sha256)
);

-- The file of a message or of an upload, under its id: waits to be fetched from the network, or is kept.
create table media_files (
  tenant_id bigint not null references tenants on delete cascade,
  id uuid not null,
  channel_id bigint not null,       -- no foreign key: a kept file outlives its channel
  network_media_id text not null,
  state text not null default 'waiting' check (state in ('waiting', 'kept', 'lost', 'expired')),
  mime_type text,
  expected_sha256 bytea,            -- what the network's webhook says
  sha256 bytea,
  reason text,                      -- why it is lost, or why the last attempt failed
  attempts integer not null default 0,
  due_at timestamptz(3),            -- while it waits: the next attempt, or the end of the claim
  claim uuid,
  expires_at timestamptz(3) not null, -- when the network deletes it
  kept_at timestamptz(3),
  primary key (tenant_id, id),
  foreign key (tenant_id, sha256) references media_contents (tenant_id, sha256),
  check ((state = 'kept') = (sha256 is not null)),
  check ((state = 'waiting') = (due_at is not null))
);
create index media_files_due on media_files (tenant_id, channel_id, due_at) where due_at is not null;
create index media_files_claimed on media_files (tenant_id, channel_id) where claim is not null;
create index media_files_by_content on media_files (tenant_id, sha256) where sha256 is not null;
create index media_files_by_age on media_files (kept_at) where state = 'kept';
create index media_files_waiting_by_end on media_files (expires_at) where state = 'waiting';

-- Contents that lost a file and may have none left.
create table media_released (
  tenant_id bigint not null,
  sha256 bytea not null,
  primary key (tenant_id, sha256)
);

-- Keys of the file store without a content: bytes to be deleted, and bytes that are being written until their content is stored.
-- Without foreign keys: the rows outlive their tenant.
create table media_unused (
  tenant_id bigint not null,
  storage_key text not null,
  due_at timestamptz(3) not null,
  primary key (tenant_id, storage_key)
);
create index media_unused_due on media_unused (due_at);

create table media_usage (
  tenant_id bigint primary key references tenants on delete cascade,
  files bigint not null default 0,
  bytes bigint not null default 0
) with (fillfactor = 50);

create function count_media_contents() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into media_usage as u (tenant_id, files, bytes)
    select n.tenant_id, count(*), sum(n.size) from fresh n group by n.tenant_id order by n.tenant_id
    on conflict (tenant_id) do update set files = u.files + excluded.files, bytes = u.bytes + excluded.bytes;
  else
    insert into media_unused (tenant_id, storage_key, due_at)
    select g.tenant_id, g.storage_key, clock_timestamp() from gone g on conflict do nothing;
    update media_usage u set files = u.files - s.files, bytes = u.bytes - s.bytes
    from (select g.tenant_id, count(*) as files, sum(g.size) as bytes from gone g group by g.tenant_id order by g.tenant_id) s
    where u.tenant_id = s.tenant_id;
  end if;
  return null;
end $$;
create trigger media_contents_stored after insert on media_contents referencing new table as fresh
  for each statement execute function count_media_contents();
create trigger media_contents_deleted after delete on media_contents referencing old table as gone
  for each statement execute function count_media_contents();

-- Locks a row that exists: the sweep must not take it while the file's deletion is not committed.
create function release_media_contents() returns trigger language plpgsql as $$
begin
  insert into media_released as r (tenant_id, sha256)
  select distinct g.tenant_id, g.sha256 from gone g where g.sha256 is not null order by 1, 2
  on conflict (tenant_id, sha256) do update set sha256 = excluded.sha256;
  return null;
end $$;
create trigger media_files_deleted after delete on media_files referencing old table as gone
  for each statement execute function release_media_contents();

-- A file goes with its message.
create function delete_message_files() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  g record;
begin
  -- One by one, by their keys: see delete_message_storage.
  for g in select tenant_id, id from gone where type = any('{image,video,audio,document,sticker}') loop
    delete from media_files f where f.tenant_id = g.tenant_id and f.id = g.id;
  end loop;
  return null;
end $$;
create trigger messages_b_files_deleted after delete on messages referencing old table as gone
  for each statement execute function delete_message_files();

-- What the network still has of the messages received so far.
insert into media_files (tenant_id, id, channel_id, network_media_id, mime_type, due_at, expires_at)
select m.tenant_id, m.id, m.channel_id, m.content->>'id', m.content->>'mime_type', now(), m.created_at + interval '7 days'
from messages m
where m.created_at > now() - interval '7 days' and m.direction = 'inbound'
  and m.type = any('{image,video,audio,document,sticker}') and m.content ? 'id';

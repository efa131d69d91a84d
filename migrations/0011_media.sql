-- A file that was handed to the network for sending. Its bytes went straight through; this is what we remember of it.
-- A file that comes with its message (REST) has an id made of its digest: the same file sent again is the same row.
create table media (
  tenant_id bigint not null references tenants on delete cascade,
  id uuid not null,
  channel_id bigint not null,
  state text not null check (state in ('pending', 'stored')),
  -- While it is pending, what its owner says of it; then what it is.
  kind text check (kind in ('image', 'video', 'audio', 'document')),
  filename text,
  mime_type text,
  size bigint,
  sha256 text,              -- hex
  network_media_id text,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null, -- the network forgets an upload after 30 days
  primary key (tenant_id, id),
  foreign key (tenant_id, channel_id) references channels (tenant_id, id) on delete cascade,
  check (state = 'pending' or (kind is not null and filename is not null and mime_type is not null and size is not null
                               and sha256 is not null and network_media_id is not null))
);
-- What a message that was sent carried.
create index media_by_network_id on media (tenant_id, network_media_id);
-- What the deletion of a channel looks for.
create index media_by_channel on media (tenant_id, channel_id);
create index media_by_expiry on media (expires_at);

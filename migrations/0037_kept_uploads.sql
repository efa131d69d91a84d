-- The messages that were sent with an upload, by the network's id of its file.
create index messages_by_upload on messages (tenant_id, (content->>'id'))
  where direction = 'outbound' and type = any('{image,video,audio,document}') and content ? 'id';

-- An upload whose file is kept stays as long as a message shows it; this is when that is looked at again.
alter table media add column recheck_at timestamptz(3);
drop index media_by_expiry;
create index media_by_end on media (coalesce(recheck_at, expires_at));

-- The file of an upload goes with it.
create function delete_upload_files() returns trigger language plpgsql as $$
begin
  delete from media_files f using gone g where f.tenant_id = g.tenant_id and f.id = g.id;
  return null;
end $$;
create trigger media_deleted after delete on media referencing old table as gone
  for each statement execute function delete_upload_files();

-- What the network still has of the uploads so far.
insert into media_files (tenant_id, id, channel_id, network_media_id, mime_type, expected_sha256, due_at, expires_at)
select tenant_id, id, channel_id, network_media_id, mime_type, decode(sha256, 'hex'), now(), expires_at
from media where state = 'stored' and expires_at > now();

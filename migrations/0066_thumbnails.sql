-- Small pictures of kept contents, made when they are first shown. They go with their content.
create table media_thumbnails (
  tenant_id bigint not null,
  sha256 bytea not null,
  width smallint not null,
  storage_key text not null,
  size bigint not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, sha256, width),
  foreign key (tenant_id, sha256) references media_contents (tenant_id, sha256) on delete cascade
);

create function release_thumbnails() returns trigger language plpgsql as $$
begin
  insert into media_unused (tenant_id, storage_key, due_at)
  select g.tenant_id, g.storage_key, clock_timestamp() from gone g on conflict do nothing;
  return null;
end $$;
create trigger media_thumbnails_deleted after delete on media_thumbnails referencing old table as gone
  for each statement execute function release_thumbnails();

-- Stickers can be sent.
alter table media drop constraint media_kind_check,
  add constraint media_kind_check check (kind in ('image', 'video', 'audio', 'document', 'sticker'));

-- Beside messages_by_upload, which would have to be made anew: there is no such message yet.
create index messages_by_sticker on messages (tenant_id, (content->>'id'))
  where direction = 'outbound' and type = 'sticker' and content ? 'id';

-- Conversations that merges of contacts folded into others: their ids find the conversation that stays, also when the merge can no longer
-- be undone and contact_merge_rows has forgotten it. One row for each step: what stayed may have been folded since.
create table conversation_merges (
  tenant_id bigint not null,
  former_id bigint not null,
  kept_id bigint not null,
  merge_id bigint not null,
  primary key (tenant_id, former_id),
  foreign key (tenant_id, merge_id) references contact_merges (tenant_id, id) on delete cascade
);
create index conversation_merges_by_merge on conversation_merges (tenant_id, merge_id);

insert into conversation_merges (tenant_id, former_id, kept_id, merge_id)
select tenant_id, ordinal, (former ->> 'kept')::bigint, merge_id from contact_merge_rows
where relation = 'folded_conversations' and former ->> 'kept' is not null;

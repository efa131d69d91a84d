-- Settings of an account: who gets its new conversations, and the zone of its days.
alter table tenants
  add column default_assignee_id bigint,
  add column time_zone text not null default 'UTC' check (length(time_zone) between 1 and 64);
alter table tenants
  add foreign key (tenant_id, default_assignee_id) references staff (tenant_id, id) on delete set null (default_assignee_id);

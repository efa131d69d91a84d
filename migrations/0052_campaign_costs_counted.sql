-- Billable messages of campaigns by what their price depends on, counted when they were delivered.
create table campaign_costs (
  tenant_id bigint not null,
  campaign_id bigint not null,
  country text not null,             -- '': not known
  category text not null,
  hour timestamptz(3) not null,      -- of their acceptance
  messages integer not null,
  primary key (tenant_id, campaign_id, country, category, hour),
  foreign key (tenant_id, campaign_id) references campaigns (tenant_id, id) on delete cascade
);

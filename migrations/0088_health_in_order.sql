-- When the network reported each part of a channel's health, so that a late webhook does not replace a newer report.
alter table channel_health add column told_at jsonb not null default '{}';

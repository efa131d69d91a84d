-- The last attempt of the periodic check, which claims a channel with it: workers do not ask for one number twice.
alter table channel_health add column asked_at timestamptz(3);

-- What the run of a campaign remembers beside its recipients.
alter table campaign_recipients add column opted_out boolean;       -- within 72 hours of the message
alter table campaigns
  -- What had failed and what was settled when it was last resumed: shares of failures count from there.
  add column failed_before integer not null default 0,
  add column settled_before integer not null default 0;
-- The network's code of a failure that stops a campaign, until it has paused.
alter table campaign_progress add column stop_code integer;

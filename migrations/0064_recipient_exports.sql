-- The recipients of a campaign can be exported as contacts and messages are.
alter table exports drop constraint exports_resource_check;
alter table exports add constraint exports_resource_check
  check (resource in ('contacts', 'messages', 'contact', 'costs', 'campaign_recipients'));

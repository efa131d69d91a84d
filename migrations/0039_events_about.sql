-- A merge is told to those who follow the contact that was merged away, whose id only the payload has.
create index events_of_merges on events (tenant_id, xid, seq) where type = 'contact.merged';

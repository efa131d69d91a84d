-- The costs of a campaign are read from the statistics of messages. Counted when a message was delivered, they lacked each price that came after
-- that: the network names it with the status "sent" only, and its webhooks may overtake each other.
drop table campaign_costs;
create index message_statistics_of_campaigns on message_statistics (tenant_id, campaign_id) where campaign_id <> 0;

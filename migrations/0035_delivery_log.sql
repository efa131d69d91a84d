-- The log of webhook deliveries is listed for the whole tenant, filtered by what people look for: failures, one type of event, one
-- answer, tests. Deliveries that succeeded are nearly all of it, and are left out of every index that can do without them.

-- The HTTP status of the last attempt; null without an answer.
alter table webhook_deliveries add column response_status integer;
update webhook_deliveries d set response_status = a.status from webhook_attempts a
where a.tenant_id = d.tenant_id and a.delivery_id = d.id and a.number = d.attempts and a.status is not null;

create index webhook_deliveries_by_status on webhook_deliveries (tenant_id, status, id) where status <> 'delivered';
create index webhook_deliveries_failed_of_endpoint on webhook_deliveries (tenant_id, endpoint_id, id) where status = 'failed';
create index webhook_deliveries_by_type on webhook_deliveries (tenant_id, event_type, id);
create index webhook_deliveries_by_response on webhook_deliveries (tenant_id, response_status, id) where response_status >= 300;
create index webhook_deliveries_tests on webhook_deliveries (tenant_id, id) where is_test;

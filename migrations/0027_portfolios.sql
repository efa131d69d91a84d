-- Webhooks that concern a whole portfolio find its channels by it, in every tenant.
create index channels_by_portfolio on channels (portfolio_id) where portfolio_id is not null;

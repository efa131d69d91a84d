-- Who follows a message is looked up in the index that has the order of its queue, whatever the planner believes of the outbox. Taken for
-- empty, as after a vacuum between two campaigns, the primary key was sorted instead where it was the lower tree: each look-up read the
-- account's whole queue (settle_outbox: 5 s for 432 of 30,000).
alter function lock_turns(bigint[], uuid[], boolean) set enable_sort = off;
alter function settle_outbox(bigint[], uuid[], boolean) set enable_sort = off;

-- No longer called since 0069 and 0076.
drop function enqueue_message(bigint, bigint, bigint, uuid, smallint, bytea);
drop function postpone_outbox(bigint[], uuid[], integer[], double precision[], boolean[], boolean[]);

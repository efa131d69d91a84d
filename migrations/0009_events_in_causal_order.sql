-- A transaction that began early may write late: it waits for the lock of one that began after it, and tells what follows
-- from what that one told. By their transactions alone the log would have "read" before "sent". The place of an event is
-- therefore its transaction or the last one completed by then, whichever is later: what was committed before an event is
-- written stands before it. What is not committed yet still stands at or behind the oldest running transaction, so that a
-- reader below it skips nothing.
alter table events alter column xid set default greatest(
  pg_current_xact_id(), ((pg_snapshot_xmax(pg_current_snapshot())::text::numeric - 1)::text)::xid8);

-- When the marker was first written to a bucket. Apart from that of the directory: a deployment that moves to a bucket marks that anew.
alter table deployment add column bucket_marked_at timestamptz(3);

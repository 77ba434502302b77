-- One row counts the changes. Updating it is also the lock that makes the order of numbers the order of commits, without
-- gaps: a reader that has seen number n has seen all before it.
create table change_feed_head (
  only_row boolean primary key default true check (only_row),
  sequence bigint not null
);
insert into change_feed_head (sequence) values (0);

-- What changed lately: a topic and the id of the thing; pruned after minutes.
create table change_feed (
  sequence bigint primary key,
  topic text not null,
  subject_id text not null,
  recorded_at timestamptz not null default clock_timestamp()
);
create index change_feed_recorded_at on change_feed (recorded_at);

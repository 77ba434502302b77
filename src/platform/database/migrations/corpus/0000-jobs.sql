-- Durable background work. A row lives until its work is done, given up or cancelled.
create table job (
  id bigint generated always as identity primary key,
  kind text not null,
  key text not null,
  payload jsonb not null,
  -- Fairness: round robin over organisations, then over their Spaces. Empty where the job belongs to none.
  organisation_id text not null default '',
  space_id text not null default '',
  state text not null check (state in ('delayed', 'ready', 'running')),
  -- Counted when the job is taken, so that one that kills the process comes to an end too.
  attempt integer not null default 0,
  run_after timestamptz not null,
  -- The run of the process that works on it (an InstanceId), and until when others believe that it lives.
  taken_by text,
  lease_until timestamptz,
  -- Cancelled while it ran: the worker is told, and removes the row when it has stopped.
  cancelled boolean not null default false,
  created_at timestamptz not null default clock_timestamp()
);
-- Only live work counts: the key of a cancelled job may be used again before its worker has stopped.
create unique index job_key on job (key) where not cancelled;
create index job_ready on job (kind, organisation_id, space_id, id) where state = 'ready';
create index job_delayed on job (run_after) where state = 'delayed';
create index job_running on job (taken_by) where state = 'running';

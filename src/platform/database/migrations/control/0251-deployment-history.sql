-- Health of deployments over 30 days, of all instances together (src/gateway/routing/deployment-history.store.ts). Each instance adds what it has
-- counted in memory every ten seconds. Days are those of UTC. Money is not in here: it comes from the ledger.
create table deployment_days (
  day date not null,
  deployment_id text not null,
  answered int8 not null,
  failed int8 not null,
  limited int8 not null,
  rejected int8 not null,
  -- streams that failed after their call was counted as answered
  broken int8 not null,
  primary key (day, deployment_id)
) with (fillfactor = 70);

create table deployment_errors (
  day date not null,
  deployment_id text not null,
  error_class text not null,
  calls int8 not null,
  primary key (day, deployment_id, error_class)
) with (fillfactor = 70);

-- Durations by bucket, as in usage_latency_days.
create table deployment_latency (
  day date not null,
  deployment_id text not null,
  bucket int2 not null,
  first_bytes int8 not null,
  totals int8 not null,
  primary key (day, deployment_id, bucket)
) with (fillfactor = 70);

-- Circuits that opened and closed.
create table deployment_events (
  id int8 generated always as identity primary key,
  at timestamptz not null,
  deployment_id text not null,
  instance_id uuid not null,
  kind text not null,
  error_class text,
  status int4
);
create index deployment_events_newest_first on deployment_events (at desc, id desc);

-- What an instance fails to call now. A row that its instance has not confirmed for a minute is of a process that ended.
create table deployment_failures (
  deployment_id text not null,
  instance_id uuid not null,
  kind text not null,
  since timestamptz not null,
  error_class text,
  status int4,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (deployment_id, instance_id, kind)
);

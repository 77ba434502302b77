-- Alerts of the installation (src/tenants/alerts). An alert is open from the moment an instance finds its condition until one finds that it is over.
create table alerts (
  id uuid primary key,
  kind text not null,
  -- what the alert is about, unique among open alerts of its kind
  subject text not null,
  -- of alerts that an organisation's administrators see as well
  organisation_id uuid,
  severity text not null check (severity in ('warning', 'critical')),
  title text not null,
  details jsonb not null,
  raised_at timestamptz not null,
  resolved_at timestamptz
);
create unique index alerts_open on alerts (kind, subject) where resolved_at is null;
create index alerts_newest_first on alerts (raised_at desc, id desc);
create index alerts_of_organisation on alerts (organisation_id, raised_at desc, id desc) where organisation_id is not null;

-- One row.
create table alert_settings (
  only_row boolean primary key default true check (only_row),
  -- by kind: {"enabled": …, "threshold": …}; a kind that is missing has its defaults
  kinds jsonb not null default '{}',
  recipients text[] not null default '{}',
  -- when an instance evaluated last: others wait for the next turn
  evaluated_at timestamptz not null default '-infinity',
  -- of the last run of the system audit
  audit_findings int4 not null default 0,
  audited_at timestamptz
);
insert into alert_settings default values;

create table alert_channels (
  id text primary key,
  url text not null,
  secret_sealed text not null
);

-- Messages about alerts on their way. The id is the `webhook-id`: the same for each attempt.
create table alert_deliveries (
  id uuid primary key,
  alert_id uuid,
  event text not null,
  channel text not null,
  subject text not null,
  body text not null,
  created_at timestamptz not null default clock_timestamp(),
  attempts int4 not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  -- of the last attempt; null: it was delivered, or there was none
  failure text
);
create index alert_deliveries_waiting on alert_deliveries (next_attempt_at) where finished_at is null;
create index alert_deliveries_newest_first on alert_deliveries (created_at desc, id desc);

-- Room on the disks of the data folders, as each process reports it.
create table alert_disks (
  host text not null,
  folder text not null,
  free_bytes int8 not null,
  total_bytes int8 not null,
  seen_at timestamptz not null,
  primary key (host, folder)
);

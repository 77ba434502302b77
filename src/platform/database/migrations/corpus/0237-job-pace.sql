-- How long a job of a kind keeps its worker, and how many of them run at the same time: for estimates of waiting times.
create table job_pace (
  kind text primary key,
  run_ms double precision not null,
  places integer not null,
  measured_at timestamptz not null default clock_timestamp()
);

-- Ends of the certificates that public addresses of this installation present, as each process sees them.
create table alert_certificates (
  host text primary key,
  ends_at timestamptz not null,
  seen_at timestamptz not null
);

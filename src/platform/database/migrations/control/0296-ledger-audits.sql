-- Scheduled audits of the ledger: when one was begun last, and what the last audit found in the ledger. `audit_findings` has those of other areas.
alter table alert_settings
  add column ledger_audit_at timestamptz not null default '-infinity',
  add column ledger_findings int4 not null default 0;

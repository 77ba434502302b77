-- The order of organisations by spending reads their running periods only.
CREATE INDEX ledger_periods_by_end ON ledger_periods (ends_at);
-- The admin log of one kind of subject, newest first.
CREATE INDEX admin_log_by_subject_type ON admin_log (subject_type, at DESC, id DESC);

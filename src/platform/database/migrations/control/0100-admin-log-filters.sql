-- Filters of the admin log, newest first. `admin_log_by_organisation` and `admin_log_newest_first` exist already.
CREATE INDEX admin_log_by_actor ON admin_log (actor, at DESC, id DESC);
CREATE INDEX admin_log_by_action ON admin_log (action, at DESC, id DESC);
CREATE INDEX admin_log_by_subject ON admin_log (subject_id, at DESC, id DESC);

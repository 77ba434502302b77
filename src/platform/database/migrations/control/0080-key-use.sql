-- Who made the key (an e-mail, `operator` or `service`), and the minute of its last use. Null: made before this migration; never used.
ALTER TABLE api_keys ADD COLUMN created_by text, ADD COLUMN last_used_at timestamptz;

-- Counts the changes of a provider's secrets, so that its version changes with them although nobody sees them.
ALTER TABLE catalogue_providers ADD COLUMN secrets_version integer NOT NULL DEFAULT 0;

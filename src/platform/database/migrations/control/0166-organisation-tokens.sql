-- Tokens of prompts and answers that an organisation may use within a minute, on each instance; null: no limit.
ALTER TABLE organisations
  ADD COLUMN tokens_per_minute integer CHECK (tokens_per_minute BETWEEN 1 AND 1000000000);

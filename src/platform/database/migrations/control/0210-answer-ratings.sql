-- What visitors think of stored answers (src/chat/conversations).
ALTER TABLE conversation_turns
  -- 1: helpful, -1: not helpful
  ADD COLUMN rating smallint,
  ADD COLUMN rating_reason text,
  ADD COLUMN rated_at timestamptz;
ALTER TABLE conversations ADD COLUMN disliked integer NOT NULL DEFAULT 0;

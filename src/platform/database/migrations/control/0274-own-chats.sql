-- Conversations of people in the console (src/chat/conversations/own): only of Spaces whose setting keepConversations is on, and only for the person.

CREATE TABLE own_chats (
  -- the browser chooses it
  id uuid PRIMARY KEY,
  -- null: the setting was turned off, or the Space was deleted. A job deletes the row.
  space_id uuid REFERENCES spaces (id) ON DELETE SET NULL,
  -- null: the account was deleted. A job deletes the row.
  person_id uuid REFERENCES people (id) ON DELETE SET NULL,
  title text NOT NULL,
  -- of its oldest and of its newest turn
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  -- number of the newest turn; removed turns leave gaps
  last_number integer NOT NULL,
  turns integer NOT NULL,
  bytes bigint NOT NULL
);
CREATE INDEX own_chats_newest_first ON own_chats (person_id, space_id, last_at DESC, id DESC);
CREATE INDEX own_chats_of_space ON own_chats (space_id);

CREATE TABLE own_chat_turns (
  chat_id uuid NOT NULL REFERENCES own_chats (id) ON DELETE CASCADE,
  number integer NOT NULL,
  request_id text NOT NULL UNIQUE,
  at timestamptz NOT NULL,
  question text NOT NULL,
  question_cut boolean NOT NULL,
  answer text NOT NULL,
  answer_cut boolean NOT NULL,
  cited jsonb NOT NULL,
  sources jsonb NOT NULL,
  model text NOT NULL,
  total_ms integer NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('complete', 'failed', 'left')),
  error_code text,
  bytes integer NOT NULL,
  PRIMARY KEY (chat_id, number)
);

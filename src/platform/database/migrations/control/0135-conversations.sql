-- Conversations of published chats (src/conversations): only of Spaces whose setting keepConversations is on.

-- Everything that a Space keeps. Whoever adds or removes turns locks this row first.
CREATE TABLE conversation_stores (
  id uuid PRIMARY KEY,
  -- null: the setting was turned off, the Space was deleted, or all was erased. A job deletes the rows.
  space_id uuid UNIQUE REFERENCES spaces (id) ON DELETE SET NULL,
  conversations bigint NOT NULL,
  turns bigint NOT NULL,
  bytes bigint NOT NULL
);
CREATE INDEX conversation_stores_detached ON conversation_stores (id) WHERE space_id IS NULL;

CREATE TABLE conversations (
  id uuid PRIMARY KEY,
  store_id uuid NOT NULL REFERENCES conversation_stores (id),
  -- what the client states about its visitor
  user_tag text,
  started_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  -- number of the newest turn; removed turns leave gaps
  last_number integer NOT NULL,
  turns integer NOT NULL,
  failed integer NOT NULL,
  unanswered integer NOT NULL,
  bytes bigint NOT NULL,
  billed_pico_usd bigint NOT NULL
);
CREATE INDEX conversations_newest_first ON conversations (store_id, last_at DESC, id DESC);
CREATE INDEX conversations_of_user ON conversations (store_id, user_tag, last_at DESC, id DESC) WHERE user_tag IS NOT NULL;
CREATE INDEX conversations_failed ON conversations (store_id, last_at DESC, id DESC) WHERE failed > 0;
CREATE INDEX conversations_unanswered ON conversations (store_id, last_at DESC, id DESC) WHERE unanswered > 0;

CREATE TABLE conversation_turns (
  conversation_id uuid NOT NULL,
  number integer NOT NULL,
  store_id uuid NOT NULL,
  user_tag text,
  -- the turn that the client's messages continue; null: none that is stored
  follows integer,
  -- digest of all messages up to the answer, by which the next request finds this turn
  chain bytea NOT NULL,
  request_id text NOT NULL,
  at timestamptz NOT NULL,
  -- earlier messages of the request that no stored turn has: {messages, leftOut}
  given jsonb,
  question text NOT NULL,
  question_cut boolean NOT NULL,
  answer text NOT NULL,
  answer_cut boolean NOT NULL,
  cited jsonb NOT NULL,
  sources jsonb NOT NULL,
  -- ids of the receipts; empty where the answer did not end
  receipts text[] NOT NULL,
  model text NOT NULL,
  billed_pico_usd bigint,
  first_text_ms integer,
  total_ms integer NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('complete', 'failed', 'left')),
  error_code text,
  unanswered boolean NOT NULL,
  bytes integer NOT NULL,
  PRIMARY KEY (conversation_id, number)
);
CREATE INDEX conversation_turns_by_time ON conversation_turns (store_id, at, conversation_id, number);
CREATE INDEX conversation_turns_of_user ON conversation_turns (store_id, user_tag, at, conversation_id, number) WHERE user_tag IS NOT NULL;
CREATE INDEX conversation_turns_by_chain ON conversation_turns (store_id, chain, at DESC);
CREATE UNIQUE INDEX conversation_turns_by_request ON conversation_turns (request_id);

-- What published chats cited and could not answer (src/insights). Days are those of the organisation's time zone.

CREATE TABLE insight_citations (
  organisation_id uuid NOT NULL,
  day date NOT NULL,
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  document_id uuid NOT NULL,
  citations bigint NOT NULL,
  PRIMARY KEY (organisation_id, day, space_id, document_id)
);
CREATE INDEX insight_citations_by_space ON insight_citations (space_id);

CREATE TABLE insight_answers (
  organisation_id uuid NOT NULL,
  day date NOT NULL,
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  answers bigint NOT NULL,
  -- answers without a reference
  unanswered bigint NOT NULL,
  PRIMARY KEY (organisation_id, day, space_id)
);
CREATE INDEX insight_answers_by_space ON insight_answers (space_id);

-- Texts of visitors: only of Spaces whose setting keepUnansweredQuestions is on.
CREATE TABLE insight_questions (
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  -- SHA-256 of the text in small letters, with single spaces
  question_hash bytea NOT NULL,
  organisation_id uuid NOT NULL,
  question text NOT NULL,
  asked bigint NOT NULL,
  last_asked_at timestamptz NOT NULL,
  PRIMARY KEY (space_id, question_hash)
);
CREATE INDEX insight_questions_by_time ON insight_questions (organisation_id, last_asked_at);
CREATE INDEX insight_questions_of_space_by_time ON insight_questions (space_id, last_asked_at);

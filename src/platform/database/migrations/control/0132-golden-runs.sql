-- Runs of golden questions and their results (src/golden-questions). A job in the corpus database works on a run.

CREATE TABLE golden_runs (
  id uuid PRIMARY KEY,
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  organisation_id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'cancelled', 'stopped', 'failed')),
  reason_code text,
  reason text,
  run_trigger text NOT NULL CHECK (run_trigger IN ('manual', 'schedule')),
  started_by text NOT NULL,
  -- of the Space at the start: {instructions, model, settings}
  space jsonb NOT NULL,
  -- of the golden questions at the start
  settings jsonb NOT NULL,
  -- identifies Space, settings, questions and documents at the start
  configuration text NOT NULL,
  -- after its end
  measures jsonb,
  -- the completed run before it, for the comparison
  previous_run_id uuid REFERENCES golden_runs (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz
);
-- One run of a Space at a time.
CREATE UNIQUE INDEX golden_runs_active ON golden_runs (space_id) WHERE state IN ('queued', 'running');
CREATE INDEX golden_runs_newest_first ON golden_runs (space_id, created_at DESC, id DESC);
CREATE INDEX golden_runs_by_previous ON golden_runs (previous_run_id);

CREATE TABLE golden_results (
  run_id uuid NOT NULL REFERENCES golden_runs (id) ON DELETE CASCADE,
  -- order of the golden questions, from 1
  place integer NOT NULL,
  -- the golden question may be gone
  question_id uuid NOT NULL,
  -- {messages, expectedDocuments, expectedFacts, mustAbstain} at the start
  content jsonb NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('pending', 'passed', 'failed', 'error', 'skipped')),
  -- how often it was begun, crashes included
  attempts integer NOT NULL DEFAULT 0,
  error text,
  answer text,
  -- {failedMeasures, facts, retrieved, cited, measures}
  detail jsonb,
  cost_pico_usd bigint NOT NULL DEFAULT 0,
  request_id text,
  PRIMARY KEY (run_id, place)
);
CREATE INDEX golden_results_by_question ON golden_results (run_id, question_id);

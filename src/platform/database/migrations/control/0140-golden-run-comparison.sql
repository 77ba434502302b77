-- How many questions got worse in a run, so that a scheduled run that found some is listed without reading results.

-- questions that passed in the previous run and not in this one; null: not completed, or without a previous run
ALTER TABLE golden_runs ADD COLUMN worse integer;

-- The demo organisation and Space of the first start. The one row is the decision to make them, so that of several instances that
-- start at once one makes them, and so that a later start does not make them again after they were deleted.

CREATE TABLE demo (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- No foreign keys: the row outlives both.
  organisation_id uuid NOT NULL,
  space_id uuid NOT NULL
);

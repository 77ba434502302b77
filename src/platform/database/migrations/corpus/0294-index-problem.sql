-- Why the vectors of an embedding version that is being built are not complete yet: a reason, and the organisations that it concerns.
alter table embedding_generations add column problem jsonb;

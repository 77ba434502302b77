-- Which version of text analysis made a document's terms. Rows of before have the first; a job analyses them again.
alter table indexed_documents add column terms_version smallint not null default 1;

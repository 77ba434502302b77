-- The version of the document interface that received the file: version 1 reads less of pdf and docx. Files of the types that only version 2
-- accepts need no value.
alter table documents add column api_version smallint not null default 1;
-- few-rows: only versions between two releases marked files of version 2 in their types
update documents set api_version = 2, mime_type = split_part(mime_type, ';', 1) where mime_type like '%; api-version=2';

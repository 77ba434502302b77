-- Of new content that replaces one document by its id: other documents of the same name stay when it becomes ready.
alter table documents add column keeps_namesakes boolean not null default false;

-- The sums of usage_tag_days without models: a value of a tag has one row for each day. Reports by tag read these.
create table usage_tag_sums (
  organisation_id uuid not null,
  key text not null,
  day date not null,
  tag_id int8 not null,
  requests int8 not null,
  failed_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cached_tokens int8 not null,
  reasoning_tokens int8 not null,
  billed_pico_usd int8 not null,
  primary key (organisation_id, key, day, tag_id)
) with (fillfactor = 70);
create index usage_tag_sums_by_tag on usage_tag_sums (organisation_id, tag_id, day);

-- No counting meanwhile.
select pg_advisory_xact_lock(7041994290);
insert into usage_tag_sums
  select organisation_id, key, day, tag_id, sum(requests), sum(failed_requests), sum(prompt_tokens), sum(completion_tokens),
    sum(cached_tokens), sum(reasoning_tokens), sum(billed_pico_usd)
  from usage_tag_days group by 1, 2, 3, 4;

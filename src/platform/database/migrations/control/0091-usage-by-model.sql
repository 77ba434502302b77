-- The sums of usage_days without Spaces. Most reports read these: an organisation with many Spaces has few models.
create table usage_model_days (
  organisation_id uuid not null,
  day date not null,
  model text not null,
  surface text not null,
  requests int8 not null,
  estimated_requests int8 not null,
  failed_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cached_tokens int8 not null,
  cache_write_tokens int8 not null,
  reasoning_tokens int8 not null,
  billed_pico_usd int8 not null,
  written_off_pico_usd int8 not null,
  primary key (organisation_id, day, model, surface)
) with (fillfactor = 70);

-- The Spaces that an organisation has used, for the filter of reports.
create table usage_spaces (
  organisation_id uuid not null,
  space_id uuid not null,
  primary key (organisation_id, space_id)
);

-- For the days of one Space.
create index usage_days_by_space on usage_days (organisation_id, space_id, day);

-- No counting meanwhile.
select pg_advisory_xact_lock(7041994290);
insert into usage_model_days
  select organisation_id, day, model, surface, sum(requests), sum(estimated_requests), sum(failed_requests), sum(prompt_tokens),
    sum(completion_tokens), sum(cached_tokens), sum(cache_write_tokens), sum(reasoning_tokens), sum(billed_pico_usd),
    sum(written_off_pico_usd)
  from usage_days group by 1, 2, 3, 4;
insert into usage_spaces
  select distinct organisation_id, space_id from usage_days where space_id <> '00000000-0000-0000-0000-000000000000';

-- Sums of 14 days, so that a report of many days reads few rows. Some days after its end a span is closed: a job adds the rows of its days,
-- for some organisations at a time (src/billing/usage-spans.store.ts). Entries that are counted later are added by triggers, in the same
-- transaction, whatever version of the service counts them. Days that are not closed are read from the tables of days. Only the holder of
-- the counting lock changes these tables and their sources. The audit compares them.

create function usage_span_start(day date) returns date language sql immutable parallel safe
  return date '2000-01-03' + (day - date '2000-01-03') / 14 * 14;

create table usage_spans (like usage_days);
alter table usage_spans rename column day to first_day;
alter table usage_spans add primary key (organisation_id, first_day, model, surface, space_id);

create table usage_model_spans (like usage_model_days);
alter table usage_model_spans rename column day to first_day;
alter table usage_model_spans add primary key (organisation_id, first_day, model, surface);

create table usage_latency_spans (like usage_latency_days);
alter table usage_latency_spans rename column day to first_day;
alter table usage_latency_spans add primary key (organisation_id, first_day, model, surface, bucket);

-- The histograms of closed days without models.
create table usage_latency_day_sums (like usage_latency_days);
alter table usage_latency_day_sums drop column model;
alter table usage_latency_day_sums add primary key (organisation_id, day, surface, bucket);

create table usage_tag_spans (like usage_tag_sums);
alter table usage_tag_spans rename column day to first_day;
alter table usage_tag_spans add primary key (organisation_id, key, first_day, tag_id);

create table usage_tag_model_spans (like usage_tag_days);
alter table usage_tag_model_spans rename column day to first_day;
alter table usage_tag_model_spans add primary key (organisation_id, key, model, first_day, tag_id);
-- For the days that are not closed.
create index usage_tag_days_by_model on usage_tag_days (organisation_id, key, model, day);

create table usage_span_tables (
  target text primary key,
  source text not null,
  -- columns that identify a row of the target, and columns that are summed up
  keys text[] not null,
  figures text[] not null,
  -- the first day of a span; earlier ones are closed for every organisation
  closed_to date not null,
  -- that span is closed for organisations up to this one; null: for none
  after_organisation uuid
);
insert into usage_span_tables (target, source, keys, figures, closed_to)
select target, source, string_to_array(keys, ' '), string_to_array(figures, ' '),
  -- Every organisation with a call has a period.
  usage_span_start(coalesce((
    select min(first.day) from (select distinct organisation_id as id from ledger_periods) o
    cross join lateral (select day from usage_days d where d.organisation_id = o.id order by day limit 1) first), now()::date))
from (values
  ('usage_spans', 'usage_days', 'organisation_id first_day model surface space_id',
    'requests estimated_requests failed_requests prompt_tokens completion_tokens cached_tokens cache_write_tokens reasoning_tokens billed_pico_usd written_off_pico_usd'),
  ('usage_model_spans', 'usage_model_days', 'organisation_id first_day model surface',
    'requests estimated_requests failed_requests prompt_tokens completion_tokens cached_tokens cache_write_tokens reasoning_tokens billed_pico_usd written_off_pico_usd'),
  ('usage_latency_spans', 'usage_latency_days', 'organisation_id first_day model surface bucket', 'first_tokens totals'),
  ('usage_latency_day_sums', 'usage_latency_days', 'organisation_id day surface bucket', 'first_tokens totals'),
  ('usage_tag_spans', 'usage_tag_sums', 'organisation_id key first_day tag_id',
    'requests failed_requests prompt_tokens completion_tokens cached_tokens reasoning_tokens billed_pico_usd'),
  ('usage_tag_model_spans', 'usage_tag_days', 'organisation_id key model first_day tag_id',
    'requests failed_requests prompt_tokens completion_tokens cached_tokens reasoning_tokens billed_pico_usd')
) as defined (target, source, keys, figures);

-- A statement that adds rows of the source to the target. `changed` is a query with the columns of the source and `sign`: 1 or -1.
create function usage_span_statement(of usage_span_tables, changed text) returns text language sql stable as $$
  select format('insert into %1$I (%2$s, %3$s) select %2$s, %4$s
      from (select *, usage_span_start(day) as first_day from (%5$s) as changed) as dated
      group by %2$s order by %2$s on conflict (%2$s) do update set %6$s',
    of.target, array_to_string(of.keys, ', '), array_to_string(of.figures, ', '),
    (select string_agg(format('sum(sign * %I)::int8', figure), ', ' order by place) from unnest(of.figures) with ordinality as f (figure, place)),
    changed,
    (select string_agg(format('%1$I = %2$I.%1$I + excluded.%1$I', figure, of.target), ', ') from unnest(of.figures) as figure))
$$;

-- Adds what a statement has changed in days that are closed.
create function usage_add_to_closed_spans() returns trigger language plpgsql as $$
declare
  of usage_span_tables;
  changed text := 'select *, 1 as sign from added';
begin
  select * into strict of from usage_span_tables where target = tg_argv[0];
  if not exists (select from added where day < of.closed_to + 14) then
    return null;
  end if;
  if tg_op = 'UPDATE' then
    changed := changed || ' union all select *, -1 from removed';
  end if;
  execute usage_span_statement(of,
      format('select * from (%s) as signed where day < $1 or (day < $1 + 14 and organisation_id <= $2)', changed))
    using of.closed_to, of.after_organisation;
  return null;
end $$;

do $$
declare
  of usage_span_tables;
begin
  for of in select * from usage_span_tables loop
    execute format('create trigger %I after insert on %I referencing new table as added for each statement
      execute function usage_add_to_closed_spans(%L)', of.target || '_inserted', of.source, of.target);
    execute format('create trigger %I after update on %I referencing new table as added old table as removed for each statement
      execute function usage_add_to_closed_spans(%L)', of.target || '_updated', of.source, of.target);
  end loop;
end $$;

-- Closes the next span of a table that ends before `before`, for at most `organisations` of them. False: there is none.
create function usage_close_span(table_name text, before date, organisations int4) returns boolean language plpgsql as $$
declare
  of usage_span_tables;
  next uuid[];
begin
  select * into strict of from usage_span_tables where target = table_name for update;
  if of.closed_to + 14 > before then
    return false;
  end if;
  -- Every organisation with a call has a period.
  next := array(
    select distinct organisation_id from ledger_periods
    where organisation_id > coalesce(of.after_organisation, '00000000-0000-0000-0000-000000000000') order by 1 limit organisations);
  execute usage_span_statement(of,
      format('select *, 1 as sign from %I where organisation_id = any($1) and day between $2 and $2 + 13', of.source))
    using next, of.closed_to;
  if cardinality(next) < organisations then
    update usage_span_tables set closed_to = of.closed_to + 14, after_organisation = null where target = table_name;
  else
    update usage_span_tables set after_organisation = next[organisations] where target = table_name;
  end if;
  return true;
end $$;

-- Rows of closed spans that are not the sum of their days. Tags that an organisation no longer records are deleted step by step.
create function usage_span_differences() returns table (subject text, expected text, found text) language plpgsql stable as $$
declare
  of usage_span_tables;
  keys text;
begin
  for of in select * from usage_span_tables loop
    keys := array_to_string(of.keys, ', ');
    return query execute format('select concat_ws('' '', %L, %2$s), s.figures, t.figures
      from (
        select %2$s, row(%3$s)::text as figures from (
          select *, usage_span_start(day) as first_day from %4$I where day < $1 or (day < $1 + 14 and organisation_id <= $2)) as dated
        group by %2$s) s
      full join (select %2$s, row(%5$s)::text as figures from %1$I) t using (%2$s)
      where s.figures is distinct from t.figures and (%1$L not like ''usage_tag%%''
        or not exists (select from organisations o where o.id = organisation_id and not o.usage_tags))',
      of.target, keys, (select string_agg(format('sum(%I)::int8', figure), ', ' order by place)
        from unnest(of.figures) with ordinality as f (figure, place)), of.source, array_to_string(of.figures, ', '))
    using of.closed_to, of.after_organisation;
  end loop;
end $$;

-- Statements of the ledger that commit late. A statement whose answer did not come may commit at any later time, for example when a
-- frozen server continues. It must not overtake its successor.

-- The highest attempt to write for this instance. A statement of a lower one writes nothing.
alter table ledger_instances add column write_attempt int8 not null default 0;

-- As the function of the same name without `attempt` (0090), for a statement of this attempt. The first statement of a higher attempt waits
-- for those of lower ones that run, and keeps out those that are still on their way: afterwards their outcome is final. `attempt` null: the
-- caller has locked the instance's row.
create function ledger_write_batch(instance uuid, attempt int8, opens json, changes jsonb, settlements json)
returns table (alive boolean, opened_ids text[], entered_ids text[])
language plpgsql
as $function$
#variable_conflict use_column
begin
  if $2 > 0 then
    update ledger_instances set write_attempt = $2 where instance_id = $1 and write_attempt < $2;
  end if;
  perform 1 from ledger_instances where instance_id = $1 and ($2 is null or write_attempt = $2) for share;
  if found then
    return query select * from ledger_write_batch($1, $3, $4, $5);
  else
    return query select false, '{}'::text[], '{}'::text[];
  end if;
end $function$;

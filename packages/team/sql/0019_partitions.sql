-- Partitions of calls and audit log: made ahead by month or by day, and dropped when they are older than the retention.
set role cordon_owner;

create function agents.fn_partitioned_by(p_parent text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$ select case p_parent when 'audit_events' then 'at' else 'created_at' end $$;

-- False if another partition has a part of the span. Rows of a span without a partition are in the default partition.
-- They move into the new one.
create function agents.fn_make_partition(p_parent text, p_part text, p_from timestamp, p_to timestamp) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  rest text := p_parent || '_other';
  since timestamptz := p_from at time zone 'UTC';
  until timestamptz := p_to at time zone 'UTC';
begin
  if to_regclass('agents.' || p_part) is not null then return true; end if;
  begin
    execute format('create table agents.%I partition of agents.%I for values from (%L) to (%L)', p_part, p_parent, since, until);
  exception
    when invalid_object_definition then return false;
    when check_violation then
      execute format('create table agents.%I (like agents.%I including all)', p_part, p_parent);
      execute format('alter table agents.%I disable trigger user', rest);
      execute format('with moved as (delete from agents.%1$I where %2$I >= %3$L and %2$I < %4$L returning *) insert into agents.%5$I select * from moved',
        rest, agents.fn_partitioned_by(p_parent), since, until, p_part);
      execute format('alter table agents.%I enable trigger user', rest);
      execute format('alter table agents.%I attach partition agents.%I for values from (%L) to (%L)', p_parent, p_part, since, until);
  end;
  if p_parent = 'audit_events' then
    execute format('create trigger trg_audit_events_kept before truncate on agents.%I execute function agents.fn_refuse_change()', p_part);
  end if;
  return true;
end $$;

create function agents.fn_make_days(p_parent text, p_month timestamp) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select agents.fn_make_partition(p_parent, p_parent || '_' || to_char(day, 'YYYY_MM_DD'), day, day + interval '1 day')
    from generate_series(p_month, p_month + interval '1 month' - interval '1 day', interval '1 day') as day
$$;

-- True if days can replace the month.
create function agents.fn_drop_empty_month(p_parent text, p_moment timestamp) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  part text := p_parent || '_' || to_char(p_moment, 'YYYY_MM');
  is_empty boolean;
begin
  if to_regclass('agents.' || part) is null or date_trunc('month', p_moment) <= now() at time zone 'UTC' then return false; end if;
  execute format('select not exists (select from agents.%I)', part) into is_empty;
  if is_empty then execute format('drop table agents.%I', part); end if;
  return is_empty;
end $$;

-- Makes partitions ahead: by month or, for millions of calls a day, by day. If some days of a month have partitions,
-- the other days get them too. The current month and months with rows keep their partition. Then days begin with the
-- next empty month.
create function agents.fn_make_partitions(p_ahead int default 3, p_span text default 'month') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  -- A timestamp in UTC without a time zone, so that all days have the same length.
  today timestamp := date_trunc('day', now() at time zone 'UTC');
  strays timestamp[];
  span_start timestamp;
  step interval := ('1 ' || p_span)::interval;
  parent text;
begin
  if p_span not in ('day', 'month') or p_ahead not between 0 and 366 then raise exception 'partitions are made by day or month, up to 366 ahead' using errcode = '22023'; end if;
  foreach parent in array array['tool_invocations', 'audit_events'] loop
    execute format('select array_agg(distinct date_trunc(%L, %I at time zone ''UTC'')) from agents.%I', p_span, agents.fn_partitioned_by(parent), parent || '_other') into strays;
    for span_start in select date_trunc(p_span, today) + n * step from generate_series(0, p_ahead) as n union select unnest(strays) order by 1 loop
      continue when agents.fn_make_partition(parent, parent || '_' || to_char(span_start, case p_span when 'day' then 'YYYY_MM_DD' else 'YYYY_MM' end), span_start, span_start + step);
      continue when p_span = 'day' and not agents.fn_drop_empty_month(parent, span_start);
      perform agents.fn_make_days(parent, date_trunc('month', span_start));
    end loop;
  end loop;
end $$;

-- Whether partitions are made by day.
create function agents.fn_has_days_ahead() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
  select exists (select from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'agents.audit_events'::regclass
    and c.relname ~ '_\d{4}_\d{2}_\d{2}$' and c.relname > 'audit_events_' || to_char(now() at time zone 'UTC', 'YYYY_MM_DD'))
$$;

-- The part of upkeep that makes partitions. It waits only briefly for locks, because everybody else waits behind it,
-- and holds them until its caller commits. So a login makes only the next partitions. If a gateway or the service keeps
-- up all teams, those exist already.
create function agents.fn_make_next_partitions() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
begin
  if agents.fn_has_days_ahead() then
    perform agents.fn_make_partitions(case when agents.fn_keeps_up_all() then 14 else 3 end, 'day');
  else
    perform agents.fn_make_partitions(case when agents.fn_keeps_up_all() then 3 else 1 end, 'month');
  end if;
end $$;
select agents.fn_make_partitions();

-- The partitions of a table that end before a moment, the oldest first.
create function agents.fn_partitions_before(p_parent text, p_moment timestamptz) returns table (
  part text, until timestamptz
)
language sql stable security definer set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
  select c.relname::text, b.until from pg_inherits i join pg_class c on c.oid = i.inhrelid
    cross join lateral (select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)')::timestamptz as until) b
    where i.inhparent = ('agents.' || p_parent)::regclass and b.until <= p_moment order by b.until
$$;

-- Records where the chains of a partition end, before it is dropped. Only an intact partition is dropped, because its
-- problems could never be found later.
create function agents.fn_checkpoint_partition(p_part text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  broken text;
begin
  select format('entry %s of chain %s of %s (%s)', e.sequence, e.chain, e.owner, e.problem) into broken from agents.fn_entry_problems(format('agents.%I', p_part)::regclass) e limit 1;
  if broken is not null then
    raise exception '%: % is not what was written, and is kept', p_part, broken using errcode = '22023', hint = 'see what is wrong: cordon log verify';
  end if;
  execute format('insert into agents.audit_checkpoints (owner, chain, sequence, hash, dropped_with)
    select distinct on (owner, chain) owner, chain, sequence, hash, %L from agents.%I order by owner, chain, sequence desc', p_part, p_part);
end $$;

-- While this waits for readers and writers, everybody else waits behind it. So it waits briefly, and tries again.
create function agents.fn_lock_partitioned() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '200ms' as $$
begin
  for attempt in 1 .. 40 loop
    begin
      lock table agents.tool_invocations, agents.audit_events in access exclusive mode;
      return;
    exception when lock_not_available then if attempt = 40 then raise; end if;
    end;
    perform pg_sleep(0.2);
  end loop;
end $$;

-- Returns the dropped partitions. A partition with open calls is kept, and so are all later ones. The slow checks come
-- first, so that the tables are locked only for a moment.
create function agents.fn_drop_old_partitions(p_keep interval) returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  old record;
  is_open boolean;
  dropped text[] := '{}';
begin
  if p_keep is null or p_keep < interval '1 day' then raise exception 'what is younger than a day is kept' using errcode = '22023'; end if;
  lock table agents.audit_checkpoints in share row exclusive mode;
  -- Old entries in the default partition move into their own. Otherwise the chains would have gaps.
  perform agents.fn_make_next_partitions();
  for old in select * from agents.fn_partitions_before('tool_invocations', now() - p_keep) loop
    execute format('select exists (select from agents.%I where status in (''pending'', ''approved'', ''running''))', old.part) into is_open;
    exit when is_open;
    dropped := dropped || old.part;
  end loop;
  for old in select * from agents.fn_partitions_before('audit_events', now() - p_keep) loop
    perform agents.fn_checkpoint_partition(old.part);
    dropped := dropped || old.part;
  end loop;
  if dropped = '{}' then return; end if;
  perform agents.fn_lock_partitioned();
  for old in select unnest(dropped) as part loop
    execute format('drop table agents.%I', old.part);
    return next old.part;
  end loop;
  -- Answers and counts of calls and runs that are gone. A call that remains keeps its approvals.
  delete from agents.team_runs r where r.status in ('rejected', 'expired', 'cancelled') and r.expires_at < now() - p_keep
    and not exists (select from agents.tool_invocations i where i.team_run_id = r.id);
  alter table agents.approval_votes disable trigger user;
  delete from agents.approvals a where a.status <> 'pending' and a.created_at < now() - p_keep
    and not exists (select from agents.tool_invocations i where i.id = a.subject_id and i.created_at = agents.fn_time_of(a.subject_id))
    and not exists (select from agents.team_runs r where r.id = a.subject_id);
  alter table agents.approval_votes enable trigger user;
  delete from agents.policy_evaluations e where e.at < now() - p_keep
    and not exists (select from agents.tool_invocations i where i.id = e.invocation_id and i.created_at = agents.fn_time_of(e.invocation_id));
  delete from agents.budget_usage u using agents.budgets b where b.id = u.budget_id and u.span_start + b.span < now() - p_keep;
  delete from agents.standing_approvals s where s.expires_at < now() - p_keep;
  -- One entry for the service, and one for each team that lost entries.
  for old in select '*' as owner union select k.owner from agents.audit_checkpoints k where k.dropped_with = any (dropped) order by 1 loop
    perform agents.fn_audit(old.owner, 'retention', 'retention.dropped', jsonb_build_object('partitions', dropped, 'kept', p_keep::text));
  end loop;
end $$;

grant execute on function agents.fn_make_next_partitions() to cordon_runner, cordon_admin, service_role;
grant execute on function agents.fn_make_partitions(int, text), agents.fn_drop_old_partitions(interval)
  to service_role;

reset role;

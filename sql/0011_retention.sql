-- Retention: what is old goes with its partition, and leaves behind where its chains go on.
set role cordon_owner;

-- The partitions of a table that end before a moment, the oldest first.
create function agents.fn_partitions_before(p_parent text, p_moment timestamptz) returns table (part text, until timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select c.relname::text, b.until from pg_inherits i join pg_class c on c.oid = i.inhrelid
    cross join lateral (select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)')::timestamptz as until) b
    where i.inhparent = ('agents.' || p_parent)::regclass and b.until <= p_moment order by b.until
$$;

-- Only a record that is intact is dropped: what is wrong with it could never be seen again.
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

-- While it waits for who reads or writes, everybody else waits behind it: not for long, and then again.
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

-- Returns what was dropped. A partition with calls that are not over is kept, with everything after it. What takes
-- long is done first: once the tables are locked everybody waits, and nobody for more than a moment.
create function agents.fn_drop_old_partitions(p_keep interval) returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  old record;
  is_open boolean;
  dropped text[] := '{}';
begin
  if p_keep is null or p_keep < interval '1 day' then raise exception 'what is younger than a day is kept' using errcode = '22023'; end if;
  lock table agents.audit_checkpoints in share row exclusive mode;
  -- What is not in a partition of its time would be missing in the chains.
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
  -- What people said, and what was counted, about calls and runs that are gone: a call that is there has its questions.
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
  -- For who looks after the database, and for each team of which something is gone.
  for old in select '*' as owner union select k.owner from agents.audit_checkpoints k where k.dropped_with = any (dropped) order by 1 loop
    perform agents.fn_audit(old.owner, 'retention', 'retention.dropped', jsonb_build_object('partitions', dropped, 'kept', p_keep::text));
  end loop;
end $$;

revoke execute on all functions in schema agents from public;
grant execute on function agents.fn_drop_old_partitions(interval) to service_role;

reset role;

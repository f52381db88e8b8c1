-- The queue that wakes runners on other hosts (schema cordon_queue, by graphile-worker). It decides nothing:
-- fn_claim_tool_invocations decides who may run a call.
set role cordon_owner;

-- The name of a version of a tool in the queue. A runner asks only for tools that it can run.
create function agents.fn_task_of(p_tool uuid, p_version int) returns text
language sql immutable parallel safe
return 'tool:' || p_tool || ':' || p_version;

-- A job has the team of the call, so that runners see only their own jobs. A runner can lock the queue. Then the call
-- is still accepted, and fn_queue_forgotten adds it later.
create function agents.fn_add_to_queue(p_id uuid, p_owner text, p_tool uuid, p_version int) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
begin
  perform cordon_queue.add_job(agents.fn_task_of(p_tool, p_version), json_build_object('id', p_id, 'owner', p_owner), job_key => p_id::text);
exception when lock_not_available then raise warning 'the queue is locked, so call % is put into it later', p_id;
end $$;

-- In the transaction that makes a call ready, so both happen or neither.
create function agents.fn_tool_invocations_queue() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_add_to_queue(new.id, new.owner, new.tool_id, new.tool_version);
  return null;
end $$;

-- Adds the name of a tool before its first call. Otherwise its first calls would wait for each other to add it.
create function agents.fn_tools_registry_queue() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
begin
  insert into cordon_queue._private_tasks (identifier) values (agents.fn_task_of(new.id, new.version)) on conflict do nothing;
  return null;
exception when lock_not_available then return null; -- the first call adds it
end $$;

-- Whether fn_use_queue has run.
create function agents.fn_has_queue() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select exists (select from pg_trigger where tgname = 'trg_tool_invocations_queue_new' and tgrelid = 'agents.tool_invocations'::regclass)
$$;

-- Adds ready calls that the queue lacks: after a pause, or if a runner died with the job, or if the queue was lost.
-- Paused calls wait.
create function agents.fn_queue_forgotten(p_stale interval default interval '1 minute') returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '10s' set plan_cache_mode = force_generic_plan as $$
declare
  forgotten record;
  queued int := 0;
begin
  if not agents.fn_has_queue() then return 0; end if;
  for forgotten in
    select i.id, i.owner, i.tool_id, i.tool_version from agents.tool_invocations i
      join agents.tools_registry t on t.id = i.tool_id and t.version = i.tool_version and t.status <> 'disabled'
      left join agents.tool_profiles p on p.id = i.profile_id
      left join cordon_queue._private_jobs j on j.key = i.id::text
      where agents.fn_keeps_up(i.owner) and i.status = 'approved' and i.dispatch = 'runners' and i.expires_at > statement_timestamp() and not i.cancel_requested
        and (j.id is null or j.locked_at < clock_timestamp() - p_stale or j.locked_at > clock_timestamp() + p_stale or j.run_at > clock_timestamp() + interval '1 hour' or j.attempts >= j.max_attempts)
        and agents.fn_find_stop(i.owner, array['kill', 'pause'], i.agent, i.tool_key, p.name) is null
      order by i.created_at limit 1000
  loop
    perform agents.fn_add_to_queue(forgotten.id, forgotten.owner, forgotten.tool_id, forgotten.tool_version);
    queued := queued + 1;
  end loop;
  return queued;
end $$;

-- Run after graphile-worker has created its tables: from then on calls go into the queue, and runners may take them.
create function agents.fn_use_queue() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  name text;
begin
  -- The functions of the queue run with the rights of cordon_owner, so cordon_owner must own them.
  if not exists (select from pg_namespace where nspname = 'cordon_queue' and nspowner = 'cordon_owner'::regrole)
     or exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'cordon_queue' and p.proowner <> 'cordon_owner'::regrole) then
    raise exception 'the queue is not there, or is not of cordon_owner' using errcode = '42501';
  end if;
  revoke all on schema cordon_queue from public;
  grant usage on schema cordon_queue to cordon_runner;
  -- Names of tasks are not confidential, and belong to no team. Named queues are not used.
  revoke all on cordon_queue._private_jobs, cordon_queue._private_tasks, cordon_queue._private_job_queues from cordon_runner;
  grant select, update, delete on cordon_queue._private_jobs to cordon_runner;
  grant select, insert on cordon_queue._private_tasks to cordon_runner;
  grant select, update on cordon_queue._private_job_queues to cordon_runner;
  foreach name in array array['_private_jobs', '_private_tasks', '_private_job_queues'] loop
    execute format('drop policy if exists of_runners on cordon_queue.%I', name);
  end loop;
  create policy of_runners on cordon_queue._private_jobs to cordon_runner
    using (payload ->> 'owner' = any ((select agents.fn_teams_as(array['runner']))::text[])) with check (payload ->> 'owner' = any ((select agents.fn_teams_as(array['runner']))::text[]));
  create policy of_runners on cordon_queue._private_tasks to cordon_runner using (true) with check (identifier like 'tool:%');
  drop trigger if exists trg_tool_invocations_queue_new on agents.tool_invocations;
  create trigger trg_tool_invocations_queue_new after insert on agents.tool_invocations for each row
    when (new.status = 'approved' and new.dispatch = 'runners') execute function agents.fn_tool_invocations_queue();
  drop trigger if exists trg_tool_invocations_queue_again on agents.tool_invocations;
  create trigger trg_tool_invocations_queue_again after update on agents.tool_invocations for each row
    when (new.status = 'approved' and old.status <> 'approved' and new.dispatch = 'runners') execute function agents.fn_tool_invocations_queue();
  drop trigger if exists trg_tools_registry_queue on agents.tools_registry;
  create trigger trg_tools_registry_queue after insert or update on agents.tools_registry for each row execute function agents.fn_tools_registry_queue();
  insert into cordon_queue._private_tasks (identifier) select agents.fn_task_of(id, version) from agents.tools_registry on conflict do nothing;
  perform agents.fn_queue_forgotten();
end $$;

grant execute on function agents.fn_task_of(uuid, int), agents.fn_has_queue(), agents.fn_queue_forgotten(interval)
  to cordon_runner, cordon_admin, service_role;

reset role;

-- Calls for runners on other hosts: the queue that wakes them, and what tools say while they run. The queue (schema
-- cordon_queue) is graphile-worker's; it decides nothing. Who may run a call is decided by fn_claim_tool_invocations.
set role cordon_owner;

-- By which name a version of a tool is in the queue: a runner asks only for what it can run.
create function agents.fn_task_of(p_tool uuid, p_version int) returns text
language sql immutable parallel safe
return 'tool:' || p_tool || ':' || p_version;

-- The owner is with it, so that runners see what is theirs. Who takes jobs out can lock the queue: it is no reason not
-- to ask or to approve, and what did not get in is found by fn_queue_forgotten.
create function agents.fn_add_to_queue(p_id uuid, p_owner text, p_tool uuid, p_version int) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
begin
  perform cordon_queue.add_job(agents.fn_task_of(p_tool, p_version), json_build_object('id', p_id, 'owner', p_owner), job_key => p_id::text);
exception when lock_not_available then raise warning 'the queue is locked; call % is told of later', p_id;
end $$;

-- In the transaction that makes a call ready: either both happen or neither.
create function agents.fn_tool_invocations_queue() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_add_to_queue(new.id, new.owner, new.tool_id, new.tool_version);
  return null;
end $$;

-- A tool's name in the queue is there before its first call: calls would wait for each other to write it.
create function agents.fn_tools_registry_queue() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
begin
  insert into cordon_queue._private_tasks (identifier) values (agents.fn_task_of(new.id, new.version)) on conflict do nothing;
  return null;
exception when lock_not_available then return null; -- it is written with the first call
end $$;

-- Once the queue is there (graphile-worker makes it): from now on calls go into it, and runners may take them out.
create function agents.fn_use_queue() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  name text;
begin
  -- Its functions are called with the rights of the owner of everything here, so they have to be the owner's own.
  if not exists (select from pg_namespace where nspname = 'cordon_queue' and nspowner = 'cordon_owner'::regrole)
     or exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'cordon_queue' and p.proowner <> 'cordon_owner'::regrole) then
    raise exception 'the queue is not there, or is not of cordon_owner' using errcode = '42501';
  end if;
  revoke all on schema cordon_queue from public;
  grant usage on schema cordon_queue to cordon_runner;
  -- Names of tasks say nothing and are nobody's; queues by name are not used.
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

create function agents.fn_has_queue() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select exists (select from pg_trigger where tgname = 'trg_tool_invocations_queue_new' and tgrelid = 'agents.tool_invocations'::regclass)
$$;

-- Calls that are ready and that nobody is told of: a pause is over, a runner died with the message in its hand, a
-- queue was lost. Those that are paused wait.
create function agents.fn_queue_forgotten(p_stale interval default interval '1 minute') returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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

-- The same request twice is one call: who asked and lost the connection before the answer asks again.
create table agents.invocation_requests (
  request uuid primary key,
  agent text not null,
  invocation_id uuid not null,
  at timestamptz not null default clock_timestamp()
);
create index invocation_requests_at on agents.invocation_requests (at);

create function agents.fn_invoke_tool_once(p_request uuid, p_run uuid, p_tool uuid, p_agent text, p_input jsonb, p_step text default null,
  p_cost_estimate numeric default null, p_valid interval default interval '1 hour', p_dispatch text default 'runners') returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  before agents.invocation_requests;
  new_id uuid;
begin
  select * into before from agents.invocation_requests where request = p_request;
  if not found then
    begin
      new_id := agents.fn_invoke_tool(p_run, p_tool, p_agent, p_input, p_step, p_cost_estimate, p_valid, p_dispatch => p_dispatch);
      insert into agents.invocation_requests (request, agent, invocation_id) values (p_request, p_agent, new_id);
      return new_id;
    exception when unique_violation then
      -- The first one was still on its way. Nothing of this one is left.
      select * into strict before from agents.invocation_requests where request = p_request;
    end;
  end if;
  if p_agent is distinct from before.agent or p_agent is distinct from agents.fn_actor() then
    raise exception 'the request % is somebody else''s', p_request using errcode = '42501';
  end if;
  if not exists (select from agents.tool_invocations i where i.id = before.invocation_id and i.created_at = agents.fn_time_of(before.invocation_id)
      and i.tool_id = p_tool and i.input = p_input and i.team_run_id is not distinct from p_run and i.step_id is not distinct from p_step) then
    raise exception 'the request % was for something else', p_request using errcode = '22023', hint = 'ask for another call with a request of its own';
  end if;
  return before.invocation_id;
end $$;
alter table agents.invocation_requests enable row level security;

-- What tools say while they run, for who waits for them. The last of it is kept, for a while; the whole of it is
-- in the output of the call when it has ended. Nothing of it has to outlive a crash of the server.
create unlogged table agents.invocation_output (
  invocation_id uuid not null,
  fence bigint not null,
  sequence int not null,
  stream text not null check (stream in ('stdout', 'stderr', 'progress')),
  content text not null check (length(content) <= 8192),
  -- Characters of this call before these that are not shown.
  skipped bigint not null default 0 check (skipped between 0 and 9007199254740991),
  at timestamptz not null default clock_timestamp(),
  primary key (invocation_id, fence, sequence)
);
create index invocation_output_at on agents.invocation_output (at);

create function agents.fn_append_output(p_id uuid, p_fence bigint, p_stream text, p_content text, p_skipped bigint default 0) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  next_sequence int;
begin
  if not exists (select from agents.tool_invocations i join agents.runners r on r.id = i.runner_id
      where i.id = p_id and i.created_at = agents.fn_time_of(p_id) and i.status = 'running' and i.fence = p_fence and r.actor = agents.fn_actor() and r.team = agents.fn_team() and agents.fn_is_member(i.owner, array['runner'])) then
    raise exception 'invocation % is not run by % any more', p_id, agents.fn_actor() using errcode = '22023', detail = 'fence';
  end if;
  select coalesce(max(o.sequence), 0) + 1 into next_sequence from agents.invocation_output o where o.invocation_id = p_id and o.fence = p_fence;
  insert into agents.invocation_output (invocation_id, fence, sequence, stream, content, skipped) values (p_id, p_fence, next_sequence, p_stream, p_content, p_skipped);
  delete from agents.invocation_output o where o.invocation_id = p_id and o.fence = p_fence and o.sequence <= next_sequence - 32;
  perform pg_notify('tool_invocation_output', p_id::text);
end $$;

-- Whether the caller looks after this call; of one that is gone everybody does.
create function agents.fn_keeps_up_call(p_id uuid) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce((select agents.fn_keeps_up(i.owner) from agents.tool_invocations i where i.id = p_id and i.created_at = agents.fn_time_of(p_id)), true)
$$;

-- What is of no use to anybody any more: what tools said, requests that nobody repeats, runners that are gone. Those of
-- one's own teams, and one's own runners: until the caller commits, who owns them waits to write there.
create function agents.fn_tidy() returns void
language sql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
  delete from agents.invocation_output where at < clock_timestamp() - interval '1 hour' and agents.fn_keeps_up_call(invocation_id);
  delete from agents.invocation_requests where at < clock_timestamp() - interval '1 day' and agents.fn_keeps_up_call(invocation_id);
  delete from agents.budget_releases r using agents.budgets b where b.id = r.budget_id and r.span_start + b.span < now() - interval '2 days' and agents.fn_keeps_up(b.owner);
  delete from agents.runners r where r.last_seen < clock_timestamp() - interval '1 day'
    and (agents.fn_keeps_up_all() or (r.actor = agents.fn_actor() and r.team = agents.fn_team()))
    and not exists (select from agents.tool_invocations i where i.status = 'running' and i.runner_id = r.id);
$$;

alter table agents.invocation_output enable row level security;
-- Whoever sees the call sees what it says.
create policy output_of_seen on agents.invocation_output for select
  using (exists (select from agents.tool_invocations i where i.id = invocation_id and i.created_at = agents.fn_time_of(invocation_id)));
grant select on agents.invocation_output to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

revoke execute on all functions in schema agents from public;
grant execute on function agents.fn_task_of(uuid, int), agents.fn_has_queue() to cordon_runner, cordon_admin, service_role;
grant execute on function agents.fn_invoke_tool_once(uuid, uuid, uuid, text, jsonb, text, numeric, interval, text) to cordon_agent, service_role;
grant execute on function agents.fn_append_output(uuid, bigint, text, text, bigint) to cordon_runner, service_role;
grant execute on function agents.fn_queue_forgotten(interval), agents.fn_tidy() to cordon_runner, cordon_admin, service_role;

reset role;

-- A call costs the same however many partitions there are. A statement that is planned once for all ids opens and locks
-- every partition each time it runs. So statements about one call are planned with its id, which carries its time, and
-- open one partition: by EXECUTE, or in a function with force_custom_plan. Rules about rows that looked for a call, once
-- for each row, compare columns instead. What upkeep does once a minute still looks at all partitions.
set role cordon_owner;

create or replace function agents.fn_audit(p_owner text, p_subject text, p_type text, p_details jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  place smallint := agents.fn_chain_of(p_subject);
  before agents.audit_chains;
  entry_line text;
  entry_hash text;
  moment timestamptz;
begin
  -- Everything that changes something is written down here. A transaction that sees only what was there when it began
  -- would decide by members, stops and budgets that are not there any more.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'transactions that change something here are read committed' using errcode = '22023', hint = 'begin them without another isolation level';
  end if;
  -- Before the chain, as retention does it, which drops partitions. Without ONLY every partition would be locked.
  lock table only agents.audit_events in row exclusive mode;
  -- Not against who only refers to the chain, as retention does while it looks through what is old.
  select * into before from agents.audit_chains where owner = p_owner and chain = place for no key update;
  if not found then
    insert into agents.audit_chains (owner, chain) values (p_owner, place) on conflict do nothing;
    select * into strict before from agents.audit_chains where owner = p_owner and chain = place for no key update;
  end if;
  -- Now that it is our turn: times within a chain go the way its numbers go.
  moment := clock_timestamp();
  entry_line := jsonb_build_object('chain', place, 'sequence', before.sequence + 1, 'at', agents.fn_written_time(moment),
    'owner', p_owner, 'subject', p_subject, 'type', p_type, 'actor', agents.fn_actor(), 'details', p_details)::text;
  entry_hash := agents.fn_entry_hash(before.hash, entry_line);
  insert into agents.audit_events (at, chain, sequence, owner, subject, type, actor, line, previous_hash, hash)
    values (moment, place, before.sequence + 1, p_owner, p_subject, p_type, agents.fn_actor(), entry_line, before.hash, entry_hash);
  update agents.audit_chains set sequence = before.sequence + 1, hash = entry_hash where owner = p_owner and chain = place;
end $$;

alter function agents.fn_lock_invocation(uuid) set plan_cache_mode = force_custom_plan;
alter function agents.fn_end_invocation(agents.tool_invocations, text) set plan_cache_mode = force_custom_plan;

create or replace function agents.fn_complete_tool_invocation(
  p_id uuid, p_status text, p_output jsonb default null, p_error text default null, p_cost numeric default null, p_fence bigint default null, p_usage jsonb default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  invocation agents.tool_invocations := agents.fn_lock_invocation(p_id);
  cost numeric;
  deviates boolean;
  promised jsonb;
  problem text;
begin
  perform agents.fn_require_amount('a cost', p_cost);
  if p_status not in ('completed', 'failed') then raise exception 'a call ends completed or failed, not %', p_status using errcode = '22023'; end if;
  select t.schema_output into promised from agents.runners r left join agents.tools_registry t on t.id = invocation.tool_id and t.version = invocation.tool_version
    where r.id = invocation.runner_id and r.actor = agents.fn_actor() and r.team = agents.fn_team();
  if not found then
    raise exception 'invocation % is not run by %', p_id, agents.fn_actor() using errcode = '42501';
  end if;
  if invocation.status <> 'running' then raise exception 'invocation % is %', p_id, invocation.status using errcode = '22023'; end if;
  if p_fence is distinct from invocation.fence then
    raise exception 'invocation % was given to another in the meantime', p_id using errcode = '22023', detail = 'fence';
  end if;
  perform agents.fn_require_bounded('the output', p_output, 16777216), agents.fn_require_bounded('the usage', p_usage), agents.fn_require_short('the error', p_error, 1048576);
  if promised is not null and p_status = 'completed' then problem := agents.fn_output_problem(p_output, promised); end if;
  if invocation.prices is not null then cost := agents.fn_cost_of(invocation.prices, p_usage); end if;
  -- From the estimate; what the runner says from what is measured; and a call cannot have run for longer than since it was claimed.
  -- Null where there is nothing to hold it against.
  deviates := greatest(agents.fn_deviates(greatest(cost, p_cost), invocation.cost_estimate), agents.fn_deviates(p_cost, cost),
    nullif(agents.fn_used(p_usage, 'wall_ms') > extract(epoch from clock_timestamp() - invocation.started_at) * 1000 + 1000, false));
  execute 'update agents.tool_invocations set status = $3, output = $4, output_problem = $5, error = $6, cost_measured = $7, cost_reported = $8, cost_deviates = $9, usage = $10, completed_at = clock_timestamp()
      where id = $1 and created_at = $2'
    using p_id, invocation.created_at, p_status, p_output, problem, p_error, cost, p_cost, deviates, p_usage;
  perform agents.fn_audit(invocation.owner, 'invocation:' || p_id, 'invocation.' || p_status, jsonb_strip_nulls(jsonb_build_object('runner', invocation.runner, 'fence', invocation.fence,
    'cost', cost, 'cost_reported', p_cost, 'cost_deviates', nullif(deviates, false), 'output_hash', case when p_output is not null then agents.fn_hash(p_output) end, 'output_problem', problem, 'error', p_error)));
end $$;

create or replace function agents.fn_recover_invocation(p_lost agents.tool_invocations) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  until timestamptz := greatest(p_lost.expires_at, now() + interval '1 day');
begin
  if p_lost.egress_class in ('none', 'read_only') then
    update agents.tool_invocations set status = 'approved', runner = null, runner_id = null where id = p_lost.id and created_at = p_lost.created_at;
    if p_lost.cancel_requested then
      update agents.tool_invocations set status = 'cancelled', completed_at = clock_timestamp() where id = p_lost.id and created_at = p_lost.created_at;
    end if;
    perform agents.fn_audit(p_lost.owner, 'invocation:' || p_lost.id, 'invocation.requeued', jsonb_build_object('runner', p_lost.runner, 'fence', p_lost.fence));
  else
    update agents.tool_invocations set status = 'pending', approval_status = 'pending', runner = null, runner_id = null, cancel_requested = false, expires_at = until where id = p_lost.id and created_at = p_lost.created_at;
    -- Another question, with a hash of its own: a yes to the first one, said again, is no yes to this. It is asked whatever
    -- limit of questions the agent has, because the call is there already.
    perform agents.fn_ask(p_lost.owner, 'tool_invocation', p_lost.id, agents.fn_hash(jsonb_build_object('input_hash', p_lost.input_hash, 'may_have_happened', p_lost.fence)), p_lost.tool_version,
      coalesce((select t.approvals_needed from agents.tools_registry t where t.id = p_lost.tool_id), 1),
      format('its runner %s became silent while it ran: it may have happened already', p_lost.runner), until, p_lost.invoked_by, p_lost.invoked_with, p_lost.agent, p_lost.tool_key, p_lost.egress_class);
    perform agents.fn_audit(p_lost.owner, 'invocation:' || p_lost.id, 'invocation.doubtful', jsonb_build_object('runner', p_lost.runner, 'fence', p_lost.fence));
  end if;
end $$;

-- Of evaluations and of output: whose they are is in their own row.
update agents.policy_evaluations e set agent = i.agent from agents.tool_invocations i where e.agent is null and i.id = e.invocation_id;
drop policy evaluations_seen on agents.policy_evaluations;
create policy evaluations_seen on agents.policy_evaluations for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])), agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));

-- What tools said so far is of use for an hour, and the whole of it is in the result: it is not carried over.
truncate agents.invocation_output;
alter table agents.invocation_output add column owner text not null, add column agent text not null;
drop policy output_of_seen on agents.invocation_output;
create policy output_seen on agents.invocation_output for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])), agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));

create or replace function agents.fn_append_output(p_id uuid, p_fence bigint, p_stream text, p_content text, p_skipped bigint default 0) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  next_sequence int;
  call record;
begin
  execute 'select i.owner, i.agent, i.runner_id from agents.tool_invocations i where i.id = $1 and i.created_at = $2 and i.status = ''running'' and i.fence = $3' into call using p_id, agents.fn_time_of(p_id), p_fence;
  if not exists (select from agents.runners r where r.id = call.runner_id and r.actor = agents.fn_actor() and r.team = agents.fn_team()
      and agents.fn_is_member(call.owner, case when call.agent = agents.fn_actor() then array['runner', 'agent'] else array['runner'] end)) then
    raise exception 'invocation % is not run by % any more', p_id, agents.fn_actor() using errcode = '22023', detail = 'fence';
  end if;
  select coalesce(max(o.sequence), 0) + 1 into next_sequence from agents.invocation_output o where o.invocation_id = p_id and o.fence = p_fence;
  insert into agents.invocation_output (invocation_id, fence, sequence, stream, content, skipped, owner, agent) values (p_id, p_fence, next_sequence, p_stream, p_content, p_skipped, call.owner, call.agent);
  delete from agents.invocation_output o where o.invocation_id = p_id and o.fence = p_fence and o.sequence <= next_sequence - 32;
  perform agents.fn_notify('tool_invocation_output', p_id);
end $$;

-- A request knows its team, so that nobody has to look for its call.
alter table agents.invocation_requests add column owner text;
update agents.invocation_requests r set owner = i.owner from agents.tool_invocations i where i.id = r.invocation_id;
delete from agents.invocation_requests where owner is null;
alter table agents.invocation_requests alter column owner set not null;

create or replace function agents.fn_invoke_tool_once(p_request uuid, p_run uuid, p_tool uuid, p_agent text, p_input jsonb, p_step text default null,
  p_cost_estimate numeric default null, p_valid interval default interval '1 hour', p_dispatch text default 'runners') returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  before agents.invocation_requests;
  new_id uuid;
  is_same boolean;
begin
  select * into before from agents.invocation_requests where request = p_request;
  if not found then
    begin
      new_id := agents.fn_invoke_tool(p_run, p_tool, p_agent, p_input, p_step, p_cost_estimate, p_valid, p_dispatch => p_dispatch);
      insert into agents.invocation_requests (request, agent, invocation_id, owner) values (p_request, p_agent, new_id, (select t.owner from agents.tools_registry t where t.id = p_tool));
      return new_id;
    exception when unique_violation then
      -- The first one was still on its way. Nothing of this one is left.
      select * into strict before from agents.invocation_requests where request = p_request;
    end;
  end if;
  if p_agent is distinct from before.agent or p_agent is distinct from agents.fn_actor() then
    raise exception 'the request % is somebody else''s', p_request using errcode = '42501';
  end if;
  execute 'select exists (select from agents.tool_invocations i where i.id = $1 and i.created_at = $2 and i.tool_id = $3 and i.input = $4 and i.team_run_id is not distinct from $5 and i.step_id is not distinct from $6)'
    into is_same using before.invocation_id, agents.fn_time_of(before.invocation_id), p_tool, p_input, p_run, p_step;
  if not is_same then
    raise exception 'the request % was for something else', p_request using errcode = '22023', hint = 'ask for another call with a request of its own';
  end if;
  return before.invocation_id;
end $$;

create or replace function agents.fn_tidy() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' set plan_cache_mode = force_generic_plan as $$
begin
  delete from agents.invocation_output where at < clock_timestamp() - interval '1 hour' and agents.fn_keeps_up(owner);
  delete from agents.invocation_requests where at < clock_timestamp() - interval '1 day' and agents.fn_keeps_up(owner);
  delete from agents.budget_releases r using agents.budgets b where b.id = r.budget_id and r.span_start + b.span < now() - interval '2 days' and agents.fn_keeps_up(b.owner);
  delete from agents.runners r where r.last_seen < clock_timestamp() - interval '1 day'
    and (agents.fn_keeps_up_all() or (r.actor = agents.fn_actor() and r.team = agents.fn_team()))
    and not exists (select from agents.tool_invocations i where i.status = 'running' and i.runner_id = r.id);
end $$;

-- Planned once: these look at all partitions.
create or replace function agents.fn_expire_invocations() returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' set plan_cache_mode = force_generic_plan as $$
declare
  late agents.tool_invocations;
  busy text[] := '{}';
  expired int := 0;
begin
  for late in select * from (select * from agents.tool_invocations where status in ('pending', 'approved') and expires_at <= statement_timestamp() and agents.fn_keeps_up(owner)
      and not exists (select from agents.approvals a where a.subject_id = tool_invocations.id and a.status = 'pending' and a.expires_at > statement_timestamp()) for update skip locked) past order by past.owner, agents.fn_chain_of('invocation:' || past.id) loop
    continue when late.owner = any (busy);
    begin
      execute 'update agents.tool_invocations set status = ''expired'', completed_at = clock_timestamp() where id = $1 and created_at = $2' using late.id, late.created_at;
      update agents.approvals set status = 'expired', decided_at = clock_timestamp() where subject_id = late.id and status = 'pending';
      perform agents.fn_audit(late.owner, 'invocation:' || late.id, 'invocation.expired', '{}');
      expired := expired + 1;
    exception when lock_not_available then busy := busy || late.owner;
    end;
  end loop;
  return expired;
end $$;
alter function agents.fn_recover_lost_invocations() set plan_cache_mode = force_generic_plan;
alter function agents.fn_queue_forgotten(interval) set plan_cache_mode = force_generic_plan;
drop function agents.fn_keeps_up_call(uuid);

reset role;

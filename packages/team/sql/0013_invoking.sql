-- Making a call. Expiry is compared with the time of the statement, because a transaction can have begun long before.
set role cordon_owner;

-- The limit of pending questions is checked before the budgets. So a request that waits for another one of the same
-- agent holds nothing that others need. Statements are planned once: an insert finds its partition when it runs.
--
-- p_runner: the process of the caller that runs the call at once, if the call is approved and nothing is paused.
-- p_version: the version of the tool that the caller compared with its own tool. Another one is refused.
create function agents.fn_make_invocation(
  p_id uuid, p_run uuid, p_tool uuid, p_agent text, p_input jsonb, p_step text, p_cost_estimate numeric,
  p_valid interval, p_bypass_approval boolean, p_bypass_reason text, p_dispatch text, p_runner text, p_version int
) returns agents.tool_invocations
language plpgsql security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set lock_timeout = '10s' as $$
declare
  tool agents.tools_registry;
  profile agents.tool_profiles;
  assignment agents.tool_assignments;
  made agents.tool_invocations;
  hash text;
  taker uuid;
  begins boolean := false;
  begun_at timestamptz;
  needs_approval boolean;
  is_service boolean := pg_has_role(agents.fn_caller_role(), 'service_role', 'member');
  standing uuid;
  expected_cost numeric;
  budgets uuid[];
  problem text;
  paused text;
  state text := 'approved';
begin
  select * into tool from agents.tools_registry where id = p_tool;
  if not found then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  if p_agent is distinct from agents.fn_actor() and not is_service then
    raise exception '% cannot call in the name of %', agents.fn_actor(), p_agent using errcode = '42501', hint = 'ask with the login or the token of that agent';
  end if;
  if not is_service then perform agents.fn_require_member(tool.owner, array['agent']); end if;
  select * into assignment from agents.tool_assignments where agent = p_agent and tool_id = p_tool;
  if assignment.allowed is distinct from true then
    raise exception 'the tool % is not assigned to %', tool.key, p_agent using errcode = '42501', detail = 'assignment', hint = format('an admin assigns it: cordon team tools assign %s %s', tool.key, p_agent);
  end if;
  if p_version <> tool.version then
    raise exception 'the tool % is version % by now, not %', tool.key, tool.version, p_version using errcode = '22023', detail = 'version', hint = 'look at the tool again';
  end if;
  if tool.status = 'disabled' then raise exception 'the tool % is disabled', tool.key using errcode = '22023', hint = format('an admin enables it: cordon team tools enable %s', tool.key); end if;
  if tool.review = 'pending' then
    raise exception 'version % of the tool % may do more than version %, and is not approved yet', tool.version, tool.key, tool.usable_version using errcode = '42501', detail = 'review',
      hint = format('cordon team tools show %s says what it may newly do; an operator approves it: cordon team tools approve %s %s', tool.key, tool.key, tool.version);
  end if;

  select * into profile from agents.tool_profiles where id = assignment.profile_id;
  if not found then select * into profile from agents.tool_profiles where owner = tool.owner and is_default; end if;
  if tool.key = any (profile.deny_tools) or not coalesce(tool.key = any (profile.allow_tools), true) or not coalesce(tool.category = any (profile.tool_groups), true) then
    raise exception 'the profile % does not allow the tool %', profile.name, tool.key using errcode = '42501', detail = 'profile',
      hint = format('cordon team show prints what it allows; an admin says it anew (cordon team profile %s --allow TOOL --group NAME --deny TOOL), or gives the agent another: cordon team tools assign %s %s --profile NAME', profile.name, tool.key, p_agent);
  end if;

  paused := agents.fn_find_stop(tool.owner, array['kill', 'pause'], p_agent, tool.key, profile.name);
  if paused is not null then
    problem := agents.fn_find_stop(tool.owner, array['kill'], p_agent, tool.key, profile.name);
    if problem is not null then raise exception 'stopped: %', problem using errcode = '42501', detail = 'kill_switch', hint = agents.fn_stop_hint(); end if;
  end if;

  perform agents.fn_require_short('the step', p_step), agents.fn_require_short('the reason', p_bypass_reason);
  problem := coalesce('input ' || agents.fn_json_problem(p_input), agents.fn_input_problem(p_input, tool.schema_input));
  if problem is not null then raise exception '%', problem using errcode = '22023', detail = 'schema', hint = format('cordon team tools show %s prints what it takes', tool.key); end if;

  if p_run is not null then
    -- The run stays locked until the call is committed, so that cancelling the run finds the call.
    perform from agents.team_runs where id = p_run and owner = tool.owner and status = 'approved' and expires_at > statement_timestamp() for share;
    if not found then raise exception 'the run % is not open', p_run using errcode = '22023', hint = format('it has to be approved, and not expired: cordon team runs show %s', p_run); end if;
  end if;
  if p_valid <= interval '0' or p_valid > interval '30 days' then raise exception 'a call is valid for up to 30 days' using errcode = '22023'; end if;

  -- A profile can require an approval, but never removes the tool's own requirement.
  needs_approval := tool.requires_approval or coalesce(profile.requires_approval, false)
    or coalesce((profile.overrides -> tool.key ->> 'requires_approval')::boolean, false);
  if p_bypass_approval then
    if not is_service then raise exception 'only the service role goes without approval' using errcode = '42501'; end if;
    if coalesce(p_bypass_reason, '') = '' then raise exception 'to go without approval needs a reason' using errcode = '22023'; end if;
  elsif needs_approval then
    standing := agents.fn_use_standing_approval(tool, p_agent, p_input);
    if standing is null then
      state := 'pending';
      perform agents.fn_require_room(tool.owner, p_agent);
    end if;
  end if;

  -- The caller's estimate can raise the tool's expected cost, but not lower it.
  perform agents.fn_require_amount('an estimate', p_cost_estimate);
  expected_cost := coalesce(greatest(p_cost_estimate, tool.expected_cost), 0);
  budgets := agents.fn_take_from_budgets(tool.owner, p_agent, profile.name, agents.fn_time_of(p_id), expected_cost);

  if p_runner is not null and state = 'approved' and paused is null then
    select r.id, not r.is_draining and tool.needs_labels <@ r.labels and tool.needs_boundary <@ r.holds
        and (not is_service or agents.fn_is_member(tool.owner, array['runner', 'agent']))
        -- Once more, because the locks above may have been waited for.
        and agents.fn_find_stop(tool.owner, array['kill', 'pause'], p_agent, tool.key, profile.name) is null
        and exists (select from agents.tools_registry t join agents.tool_assignments a on a.tool_id = t.id and a.agent = p_agent and a.allowed
          where t.id = tool.id and t.version = tool.version and t.status <> 'disabled') into taker, begins
      from agents.runners r where r.actor = agents.fn_actor() and r.name = p_runner and r.team = agents.fn_team();
    if not found then raise exception 'there is no runner %', p_runner using errcode = 'P0002', hint = 'call fn_heartbeat first'; end if;
    if begins then begun_at := clock_timestamp(); end if;
  end if;

  hash := agents.fn_hash(p_input);
  insert into agents.tool_invocations (id, created_at, owner, team_run_id, step_id, tool_id, tool_key, tool_version, egress_class, agent, invoked_by, invoked_with, profile_id,
      input, input_hash, status, approval_status, approval_required, approval_decided_by, approval_reason, standing_approval_id, cost_estimate, prices, cost_reserved, budgets, dispatch, expires_at,
      runner, runner_id, fence, dispatched_at, started_at)
    values (p_id, agents.fn_time_of(p_id), tool.owner, p_run, p_step, tool.id, tool.key, tool.version, tool.egress_class, p_agent, agents.fn_actor(), agents.fn_token(), profile.id,
      p_input, hash, case when begins then 'running' else state end, case when not needs_approval then 'not_required' when state = 'pending' then 'pending' else 'approved' end, needs_approval,
      case when p_bypass_approval then agents.fn_actor() end, case when p_bypass_approval then p_bypass_reason when standing is not null then 'approved in advance' end,
      standing, coalesce(p_cost_estimate, tool.expected_cost), tool.prices, expected_cost, budgets, p_dispatch, now() + p_valid,
      case when begins then p_runner end, case when begins then taker end, begins::int, begun_at, begun_at)
    returning * into made;
  if state = 'pending' then
    perform agents.fn_ask(tool.owner, 'tool_invocation', p_id, hash, tool.version, tool.approvals_needed, case when tool.egress_class = 'write' then format('%s is of the class write', tool.key)
      when tool.requires_approval then format('%s is registered as one that people are asked about', tool.key) else format('the profile %s asks about every call', profile.name) end, now() + p_valid,
      p_agent => p_agent, p_tool => tool.key, p_class => tool.egress_class);
  end if;
  if needs_approval then
    insert into agents.policy_evaluations (owner, invocation_id, agent, point, type, verdict, reason)
      values (tool.owner, p_id, p_agent, 'pre_tool', 'approval', case when state = 'pending' then 'require_approval' else 'allow' end,
        case when p_bypass_approval then 'bypassed: ' || p_bypass_reason when standing is not null then 'standing approval ' || standing else tool.egress_class end);
  end if;
  if paused is not null then
    insert into agents.policy_evaluations (owner, invocation_id, agent, point, type, verdict, reason) values (tool.owner, p_id, p_agent, 'pre_run', 'pause', 'pause', paused);
  end if;
  perform agents.fn_audit_all(tool.owner, 'invocation:' || p_id,
    case when begins then array['invocation.asked', 'invocation.started'] else array['invocation.asked'] end,
    array[
      jsonb_strip_nulls(jsonb_build_object('tool', tool.key, 'version', tool.version,
        'egress_class', tool.egress_class, 'agent', p_agent, 'input_hash', hash, 'status', state, 'standing_approval', standing,
        'bypass', case when p_bypass_approval then p_bypass_reason end, 'token', agents.fn_token())),
      jsonb_build_object('runner', p_runner, 'fence', 1, 'input_hash', hash)
    ]);
  return made;
end $$;

create function agents.fn_invoke_tool(
  p_run uuid, p_tool uuid, p_agent text, p_input jsonb, p_step text default null,
  p_cost_estimate numeric default null, p_valid interval default interval '1 hour',
  p_bypass_approval boolean default false, p_bypass_reason text default null, p_dispatch text default 'runners'
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  made agents.tool_invocations := agents.fn_make_invocation(agents.fn_new_id(), p_run, p_tool, p_agent, p_input, p_step,
    p_cost_estimate, p_valid, p_bypass_approval, p_bypass_reason, p_dispatch, null, null);
begin
  return made.id;
end $$;

-- The same request twice is one call: a client that lost the connection before the answer can ask again.
create table agents.invocation_requests (
  request uuid primary key,
  agent text not null,
  invocation_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  owner text not null
);
create index invocation_requests_at on agents.invocation_requests (at);
alter table agents.invocation_requests enable row level security;

create function agents.fn_make_invocation_once(
  p_request uuid, p_run uuid, p_tool uuid, p_agent text, p_input jsonb, p_step text, p_cost_estimate numeric,
  p_valid interval, p_dispatch text, p_runner text, p_version int
) returns agents.tool_invocations
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  new_id uuid := agents.fn_new_id();
  before agents.invocation_requests;
  made agents.tool_invocations;
begin
  -- A request that is on its way is waited for here.
  insert into agents.invocation_requests (request, agent, invocation_id, owner)
    select p_request, p_agent, new_id, t.owner from agents.tools_registry t where t.id = p_tool
    on conflict (request) do nothing;
  if found then
    return agents.fn_make_invocation(new_id, p_run, p_tool, p_agent, p_input, p_step, p_cost_estimate, p_valid, false, null, p_dispatch, p_runner, p_version);
  end if;
  select * into before from agents.invocation_requests where request = p_request;
  if not found then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  if p_agent is distinct from before.agent or p_agent is distinct from agents.fn_actor() then
    raise exception 'the request % is somebody else''s', p_request using errcode = '42501';
  end if;
  if not pg_has_role(agents.fn_caller_role(), 'service_role', 'member') then perform agents.fn_require_member(before.owner, array['agent']); end if;
  execute 'select * from agents.tool_invocations where id = $1 and created_at = $2'
    into made using before.invocation_id, agents.fn_time_of(before.invocation_id);
  if (made.tool_id, made.input, made.team_run_id, made.step_id) is distinct from (p_tool, p_input, p_run, p_step) then
    raise exception 'the request % was for something else', p_request using errcode = '22023', hint = 'ask for another call with a request of its own';
  end if;
  return made;
end $$;

create function agents.fn_invoke_tool_once(
  p_request uuid, p_run uuid, p_tool uuid, p_agent text, p_input jsonb, p_step text default null,
  p_cost_estimate numeric default null, p_valid interval default interval '1 hour', p_dispatch text default 'runners'
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  made agents.tool_invocations := agents.fn_make_invocation_once(p_request, p_run, p_tool, p_agent, p_input, p_step,
    p_cost_estimate, p_valid, p_dispatch, null, null);
begin
  return made.id;
end $$;

-- Asks for a call that the caller runs itself, and claims it in the same transaction. If people have to be asked, or if
-- calls are paused, it is not running afterwards, and is claimed later by its id.
create function agents.fn_begin_tool_invocation(
  p_request uuid, p_run uuid, p_tool uuid, p_version int, p_agent text, p_input jsonb, p_runner text,
  p_step text default null, p_cost_estimate numeric default null, p_valid interval default interval '1 hour'
) returns setof agents.tool_invocations
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  if p_agent is distinct from agents.fn_actor() then
    raise exception '% cannot run calls of %', agents.fn_actor(), p_agent using errcode = '42501', hint = 'ask with the login or the token of that agent';
  end if;
  return next agents.fn_make_invocation_once(p_request, p_run, p_tool, p_agent, p_input, p_step, p_cost_estimate, p_valid, 'caller', p_runner, p_version);
end $$;

grant execute on function
  agents.fn_invoke_tool(uuid, uuid, text, jsonb, text, numeric, interval, boolean, text, text),
  agents.fn_invoke_tool_once(uuid, uuid, uuid, text, jsonb, text, numeric, interval, text),
  agents.fn_begin_tool_invocation(uuid, uuid, uuid, int, text, jsonb, text, text, numeric, interval)
  to cordon_agent, service_role;

reset role;

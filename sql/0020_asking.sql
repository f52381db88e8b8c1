-- Asking for a call, with the limit of questions that may wait (0016). It is looked at before anything is taken from a
-- budget: who waits for another request of the same agent holds nothing that others need.
set role cordon_owner;

create or replace function agents.fn_invoke_tool(
  p_run uuid, p_tool uuid, p_agent text, p_input jsonb, p_step text default null,
  p_cost_estimate numeric default null, p_valid interval default interval '1 hour', p_bypass_approval boolean default false, p_bypass_reason text default null,
  p_dispatch text default 'runners'
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  tool agents.tools_registry;
  profile agents.tool_profiles;
  assignment agents.tool_assignments;
  new_id uuid := agents.fn_new_id();
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
    raise exception 'the tool % is not assigned to %', tool.key, p_agent using errcode = '42501', detail = 'assignment', hint = format('an admin assigns it: cordon tools assign %s %s', tool.key, p_agent);
  end if;
  if tool.status = 'disabled' then raise exception 'the tool % is disabled', tool.key using errcode = '22023', hint = format('an admin enables it: cordon tools enable %s', tool.key); end if;

  select * into profile from agents.tool_profiles where id = assignment.profile_id;
  if not found then select * into profile from agents.tool_profiles where owner = tool.owner and is_default; end if;
  if tool.key = any (profile.deny_tools) or not coalesce(tool.key = any (profile.allow_tools), true) or not coalesce(tool.category = any (profile.tool_groups), true) then
    raise exception 'the profile % does not allow the tool %', profile.name, tool.key using errcode = '42501', detail = 'profile',
      hint = format('cordon team show prints what it allows; an admin says it anew (cordon team profile %s --allow TOOL --group NAME --deny TOOL), or gives the agent another: cordon tools assign %s %s --profile NAME', profile.name, tool.key, p_agent);
  end if;

  paused := agents.fn_find_stop(tool.owner, array['kill', 'pause'], p_agent, tool.key, profile.name);
  if paused is not null then
    problem := agents.fn_find_stop(tool.owner, array['kill'], p_agent, tool.key, profile.name);
    if problem is not null then raise exception 'stopped: %', problem using errcode = '42501', detail = 'kill_switch', hint = agents.fn_stop_hint(); end if;
  end if;

  perform agents.fn_require_short('the step', p_step), agents.fn_require_short('the reason', p_bypass_reason);
  problem := coalesce('input ' || agents.fn_json_problem(p_input), agents.fn_input_problem(p_input, tool.schema_input));
  if problem is not null then raise exception '%', problem using errcode = '22023', detail = 'schema', hint = format('cordon tools show %s prints what it takes', tool.key); end if;

  if p_run is not null then
    -- Held until the call is there: who cancels the run finds it.
    perform from agents.team_runs where id = p_run and owner = tool.owner and status = 'approved' and expires_at > statement_timestamp() for share;
    if not found then raise exception 'the run % is not open', p_run using errcode = '22023', hint = format('it has to be approved, and not expired: cordon runs show %s', p_run); end if;
  end if;
  if p_valid <= interval '0' or p_valid > interval '30 days' then raise exception 'a call is valid for up to 30 days' using errcode = '22023'; end if;

  -- What a profile says adds a question; it never takes one away.
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

  -- Who asks may expect more than the tool is registered with, and not less.
  perform agents.fn_require_amount('an estimate', p_cost_estimate);
  expected_cost := coalesce(greatest(p_cost_estimate, tool.expected_cost), 0);
  budgets := agents.fn_take_from_budgets(tool.owner, p_agent, profile.name, agents.fn_time_of(new_id), expected_cost);

  insert into agents.tool_invocations (id, created_at, owner, team_run_id, step_id, tool_id, tool_key, tool_version, egress_class, agent, invoked_by, invoked_with, profile_id,
      input, input_hash, status, approval_status, approval_required, approval_decided_by, approval_reason, standing_approval_id, cost_estimate, prices, cost_reserved, budgets, dispatch, expires_at)
    values (new_id, agents.fn_time_of(new_id), tool.owner, p_run, p_step, tool.id, tool.key, tool.version, tool.egress_class, p_agent, agents.fn_actor(), agents.fn_token(), profile.id,
      p_input, agents.fn_hash(p_input), state, case when not needs_approval then 'not_required' when state = 'pending' then 'pending' else 'approved' end, needs_approval,
      case when p_bypass_approval then agents.fn_actor() end, case when p_bypass_approval then p_bypass_reason when standing is not null then 'approved in advance' end,
      standing, coalesce(p_cost_estimate, tool.expected_cost), tool.prices, expected_cost, budgets, p_dispatch, now() + p_valid);
  if state = 'pending' then
    perform agents.fn_ask(tool.owner, 'tool_invocation', new_id, agents.fn_hash(p_input), tool.version, tool.approvals_needed, case when tool.egress_class = 'write' then format('%s is of the class write', tool.key)
      when tool.requires_approval then format('%s is registered as one that people are asked about', tool.key) else format('the profile %s asks about every call', profile.name) end, now() + p_valid,
      p_agent => p_agent, p_tool => tool.key, p_class => tool.egress_class);
  end if;
  if needs_approval then
    insert into agents.policy_evaluations (owner, invocation_id, agent, point, type, verdict, reason)
      values (tool.owner, new_id, p_agent, 'pre_tool', 'approval', case when state = 'pending' then 'require_approval' else 'allow' end,
        case when p_bypass_approval then 'bypassed: ' || p_bypass_reason when standing is not null then 'standing approval ' || standing else tool.egress_class end);
  end if;
  if paused is not null then
    insert into agents.policy_evaluations (owner, invocation_id, agent, point, type, verdict, reason) values (tool.owner, new_id, p_agent, 'pre_run', 'pause', 'pause', paused);
  end if;
  perform agents.fn_audit(tool.owner, 'invocation:' || new_id, 'invocation.asked', jsonb_strip_nulls(jsonb_build_object('tool', tool.key, 'version', tool.version,
    'egress_class', tool.egress_class, 'agent', p_agent, 'input_hash', agents.fn_hash(p_input), 'status', state, 'standing_approval', standing,
    'bypass', case when p_bypass_approval then p_bypass_reason end, 'token', agents.fn_token())));
  return new_id;
end $$;

reset role;

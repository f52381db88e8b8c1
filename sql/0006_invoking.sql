-- Asking for a call.
set role cordon_owner;

-- Whether something has expired is asked at the time of the statement: a transaction can be begun long before.

create function agents.fn_find_stop(p_owner text, p_states text[], p_agent text, p_tool text, p_profile text) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select format('%s: %s (%s)', scope || case when subject = '' then '' else ' ' || subject end, reason, author) from agents.controls
    where owner = p_owner and state = any (p_states)
      and (scope = 'all' or (scope = 'agent' and subject = p_agent) or (scope = 'tool' and subject = p_tool) or (scope = 'profile' and subject = p_profile))
    limit 1);
end $$;

create function agents.fn_stop_hint() returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select 'cordon team show says what is stopped; an operator or admin lets it go on: cordon team resume (with the --agent, --tool or --profile that is stopped)'::text
$$;

create function agents.fn_budget_hint(p_budget agents.budgets, p_span_start timestamptz) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('it counts anew from %s on; an admin changes it (cordon team budget --%s %s --per %ss --calls N, or --cost N), or takes it away (--off)',
    to_char((p_span_start + p_budget.span) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), p_budget.scope, p_budget.subject, extract(epoch from p_budget.span)::bigint)
$$;

-- Takes one call, and what it is expected to cost, from every budget that it falls under, or refuses. The rows are
-- locked until the end of the transaction, in one order for everybody. Returns the budgets of cost among them.
create function agents.fn_take_from_budgets(p_owner text, p_agent text, p_profile text, p_at timestamptz, p_cost numeric) returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  budget agents.budgets;
  used agents.budget_usage;
  settled agents.budget_usage;
  taken uuid[] := '{}';
begin
  for budget in
    select * from agents.budgets b where b.owner = p_owner and ((b.scope = 'agent' and b.subject = p_agent) or (b.scope = 'profile' and b.subject = p_profile)) order by b.id
  loop
    insert into agents.budget_usage as u (budget_id, span_start, calls, reserved)
      values (budget.id, date_bin(budget.span, p_at, timestamptz '2000-01-01'), 1, case when budget.max_cost is null then 0 else p_cost end)
      on conflict (budget_id, span_start) do update set calls = u.calls + 1, reserved = u.reserved + excluded.reserved returning * into used;
    if used.calls > budget.max_calls then
      raise exception '% % has used its % calls in %', budget.scope, budget.subject, budget.max_calls, budget.span using errcode = '42501', detail = 'budget', hint = agents.fn_budget_hint(budget, used.span_start);
    end if;
    continue when budget.max_cost is null;
    with ended as (
      delete from agents.budget_releases r where r.budget_id = used.budget_id and r.span_start = used.span_start returning r.reserved, r.cost
    ), total as (select sum(e.reserved) as reserved, sum(e.cost) as cost from ended e having count(*) > 0)
    update agents.budget_usage u set reserved = u.reserved - t.reserved, cost = u.cost + t.cost from total t
      where u.budget_id = used.budget_id and u.span_start = used.span_start returning u.* into settled;
    if found then used := settled; end if;
    if used.cost + used.reserved > budget.max_cost or used.cost + used.reserved - p_cost >= budget.max_cost then
      raise exception '% % has used its budget of % in %, with what is held back for calls that have not ended', budget.scope, budget.subject, budget.max_cost, budget.span using errcode = '42501', detail = 'budget', hint = agents.fn_budget_hint(budget, used.span_start);
    end if;
    taken := taken || budget.id;
  end loop;
  return taken;
end $$;

-- The budgets of a team, and what is used of them in the windows of now: of cost with what is held back, and what has ended
-- and is not added up yet. What others have used is not for agents.
create function agents.fn_list_budgets(p_owner text) returns table (scope text, subject text, span interval, max_calls bigint, max_cost numeric, used_calls bigint, used_cost numeric, until timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select b.scope, b.subject, b.span, b.max_calls, b.max_cost, case when s.is_seen then coalesce(u.calls, 0) end,
      case when s.is_seen and b.max_cost is not null then coalesce(u.cost + u.reserved, 0) + coalesce((select sum(r.cost - r.reserved) from agents.budget_releases r where r.budget_id = b.id and r.span_start = w.span_start), 0) end,
      w.span_start + b.span
    from agents.budgets b cross join lateral (select date_bin(b.span, statement_timestamp(), timestamptz '2000-01-01') as span_start) w
      cross join lateral (select agents.fn_is_member(p_owner, array['admin', 'operator']) or (b.scope = 'agent' and b.subject = agents.fn_actor()) as is_seen) s
      left join agents.budget_usage u on u.budget_id = b.id and u.span_start = w.span_start
    where b.owner = p_owner and agents.fn_is_member(p_owner, array['admin', 'operator', 'agent', 'runner'])
    order by b.scope, b.subject, b.span
$$;

-- What ran and was not measured counts with what was held back for it; what did not run costs nothing. A window that is
-- long over counts no more.
create function agents.fn_tool_invocations_settle() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into agents.budget_releases (budget_id, span_start, reserved, cost)
    select b.id, w.span_start, new.cost_reserved, case when new.status in ('completed', 'failed') or new.fence > 0 then coalesce(greatest(new.cost_measured, new.cost_reported), new.cost_reserved) else 0 end
      from agents.budgets b cross join lateral (select date_bin(b.span, new.created_at, timestamptz '2000-01-01') as span_start) w
      where b.id = any (new.budgets) and w.span_start + b.span > now() - interval '1 day';
  return null;
end $$;
create trigger trg_tool_invocations_settle after update on agents.tool_invocations for each row
  when (new.budgets <> '{}' and new.status <> old.status and new.status in ('completed', 'failed', 'rejected', 'expired', 'cancelled'))
  execute function agents.fn_tool_invocations_settle();

-- Whether a yes in advance still counts, whoever asks.
create function agents.fn_standing_counts(p_given agents.standing_approvals) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return p_given.revoked_at is null and p_given.uses_left > 0 and p_given.expires_at > statement_timestamp()
    and exists (select from agents.tools_registry t where t.id = p_given.tool_id and t.version = p_given.tool_version)
    and exists (select from agents.members m where m.owner = p_given.owner and m.actor = p_given.author and m.kind = 'operator')
    -- Not by what was taken back since: it may have been somebody else's hand.
    and not exists (select from agents.tokens t where t.id = p_given.given_with and t.revoked_at is not null);
end $$;

-- Those of a team, for its members; an agent finds its own.
create function agents.fn_standing_approvals(p_owner text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select s.id from agents.standing_approvals s where s.owner = p_owner and agents.fn_standing_counts(s)
    and (agents.fn_is_member(p_owner, array['admin', 'operator', 'runner']) or (s.agent = agents.fn_actor() and agents.fn_is_member(p_owner, array['agent'])))
$$;

create function agents.fn_use_standing_approval(p_tool agents.tools_registry, p_agent text, p_input jsonb) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  given agents.standing_approvals;
begin
  for given in
    select * from agents.standing_approvals s
      where s.tool_id = p_tool.id and s.revoked_at is null and s.uses_left > 0 and agents.fn_standing_counts(s)
        and (s.agent is null or s.agent = p_agent) and s.author <> p_agent and s.author <> agents.fn_actor()
        -- Not by what the asker made or shows too.
        and not coalesce(s.given_with = agents.fn_token(), false)
        and not exists (select from agents.tokens t where t.id = s.given_with and t.created_by in (p_agent, agents.fn_actor()))
      order by s.expires_at for update
  loop
    if agents.fn_input_problem(p_input, given.arguments) is null then
      update agents.standing_approvals set uses_left = uses_left - 1 where id = given.id;
      return given.id;
    end if;
  end loop;
  return null;
end $$;

create function agents.fn_ask(p_owner text, p_kind text, p_subject uuid, p_hash text, p_version int, p_needed int, p_why text, p_expires timestamptz, p_asked_by text default agents.fn_actor(), p_asked_with uuid default agents.fn_token()) returns uuid
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into agents.approvals (owner, subject_kind, subject_id, arguments_hash, tool_version, asked_by, asked_with, needed, why, expires_at)
    values (p_owner, p_kind, p_subject, p_hash, p_version, p_asked_by, p_asked_with, p_needed, p_why, p_expires) returning id
$$;

-- Which partition a call is in is known when a statement runs: planned once, not with every call (here, and where calls
-- are claimed, decided and completed).
create function agents.fn_invoke_tool(
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

  -- Who asks may expect more than the tool is registered with, and not less.
  perform agents.fn_require_amount('an estimate', p_cost_estimate);
  expected_cost := coalesce(greatest(p_cost_estimate, tool.expected_cost), 0);
  budgets := agents.fn_take_from_budgets(tool.owner, p_agent, profile.name, agents.fn_time_of(new_id), expected_cost);

  -- What a profile says adds a question; it never takes one away.
  needs_approval := tool.requires_approval or coalesce(profile.requires_approval, false)
    or coalesce((profile.overrides -> tool.key ->> 'requires_approval')::boolean, false);
  if p_bypass_approval then
    if not is_service then raise exception 'only the service role goes without approval' using errcode = '42501'; end if;
    if coalesce(p_bypass_reason, '') = '' then raise exception 'to go without approval needs a reason' using errcode = '22023'; end if;
  elsif needs_approval then
    standing := agents.fn_use_standing_approval(tool, p_agent, p_input);
    if standing is null then state := 'pending'; end if;
  end if;

  insert into agents.tool_invocations (id, created_at, owner, team_run_id, step_id, tool_id, tool_key, tool_version, egress_class, agent, invoked_by, invoked_with, profile_id,
      input, input_hash, status, approval_status, approval_required, approval_decided_by, approval_reason, standing_approval_id, cost_estimate, prices, cost_reserved, budgets, dispatch, expires_at)
    values (new_id, agents.fn_time_of(new_id), tool.owner, p_run, p_step, tool.id, tool.key, tool.version, tool.egress_class, p_agent, agents.fn_actor(), agents.fn_token(), profile.id,
      p_input, agents.fn_hash(p_input), state, case when not needs_approval then 'not_required' when state = 'pending' then 'pending' else 'approved' end, needs_approval,
      case when p_bypass_approval then agents.fn_actor() end, case when p_bypass_approval then p_bypass_reason when standing is not null then 'approved in advance' end,
      standing, coalesce(p_cost_estimate, tool.expected_cost), tool.prices, expected_cost, budgets, p_dispatch, now() + p_valid);
  if state = 'pending' then
    perform agents.fn_ask(tool.owner, 'tool_invocation', new_id, agents.fn_hash(p_input), tool.version, tool.approvals_needed, case when tool.egress_class = 'write' then format('%s is of the class write', tool.key)
      when tool.requires_approval then format('%s is registered as one that people are asked about', tool.key) else format('the profile %s asks about every call', profile.name) end, now() + p_valid);
  end if;
  if needs_approval then
    insert into agents.policy_evaluations (owner, invocation_id, point, type, verdict, reason)
      values (tool.owner, new_id, 'pre_tool', 'approval', case when state = 'pending' then 'require_approval' else 'allow' end,
        case when p_bypass_approval then 'bypassed: ' || p_bypass_reason when standing is not null then 'standing approval ' || standing else tool.egress_class end);
  end if;
  if paused is not null then
    insert into agents.policy_evaluations (owner, invocation_id, point, type, verdict, reason) values (tool.owner, new_id, 'pre_run', 'pause', 'pause', paused);
  end if;
  perform agents.fn_audit(tool.owner, 'invocation:' || new_id, 'invocation.asked', jsonb_strip_nulls(jsonb_build_object('tool', tool.key, 'version', tool.version,
    'egress_class', tool.egress_class, 'agent', p_agent, 'input_hash', agents.fn_hash(p_input), 'status', state, 'standing_approval', standing,
    'bypass', case when p_bypass_approval then p_bypass_reason end, 'token', agents.fn_token())));
  return new_id;
end $$;

create function agents.fn_start_team_run(p_owner text, p_name text, p_plan jsonb default '{}', p_needed int default 1, p_valid interval default interval '1 day') returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id uuid;
begin
  perform agents.fn_require_member(p_owner, array['agent', 'operator', 'admin']);
  perform agents.fn_require_bounded('the plan', p_plan), agents.fn_require_short('the name of the run', p_name);
  if p_valid <= interval '0' or p_valid > interval '30 days' or p_needed not between 1 and 20 then raise exception 'a run is valid for up to 30 days, and needs 1 to 20 people' using errcode = '22023'; end if;
  insert into agents.team_runs (owner, name, plan, expires_at) values (p_owner, p_name, p_plan, now() + p_valid) returning id into new_id;
  perform agents.fn_ask(p_owner, 'team_run', new_id, agents.fn_hash(p_plan), null, p_needed, p_name, now() + p_valid);
  perform pg_notify('tool_invocation_approval_required', new_id::text);
  perform agents.fn_audit(p_owner, 'run:' || new_id, 'run.asked', jsonb_strip_nulls(jsonb_build_object('name', p_name, 'plan_hash', agents.fn_hash(p_plan), 'token', agents.fn_token())));
  return new_id;
end $$;

create function agents.fn_approve_in_advance(p_tool uuid, p_arguments jsonb, p_uses int, p_valid interval, p_reason text, p_agent text default null) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  tool agents.tools_registry;
  problem text;
  result uuid;
begin
  select * into tool from agents.tools_registry where id = p_tool;
  if not found then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool.owner, array['operator']);
  perform agents.fn_require_bounded('the form of the arguments', p_arguments), agents.fn_require_short('the reason', p_reason);
  problem := agents.fn_schema_problem(p_arguments);
  if problem is not null then raise exception 'the form of the arguments cannot be enforced: %', problem using errcode = '22023'; end if;
  if p_arguments -> 'type' is distinct from '"object"' or p_arguments -> 'additionalProperties' is distinct from 'false' or jsonb_array_length(coalesce(p_arguments -> 'required', '[]')) = 0 then
    raise exception 'a standing approval says which arguments it is for' using errcode = '22023',
      hint = 'write type: object, the properties with their values, all that matter in required, and additionalProperties: false';
  end if;
  if p_uses < 1 or p_valid <= interval '0' or p_valid > interval '1 year' then raise exception 'a standing approval is for a number of uses, and up to a year' using errcode = '22023'; end if;
  perform agents.fn_deciding_token(tool.owner, null, array[p_agent]);
  if tool.approvals_needed > 1 then raise exception '% needs % people for each call', tool.key, tool.approvals_needed using errcode = '42501'; end if;
  insert into agents.standing_approvals (owner, tool_id, tool_version, agent, arguments, uses_left, expires_at, reason)
    values (tool.owner, tool.id, tool.version, p_agent, p_arguments, p_uses, now() + p_valid, p_reason) returning id into result;
  perform agents.fn_audit(tool.owner, 'standing:' || result, 'standing.given', jsonb_build_object('tool', tool.key, 'version', tool.version, 'arguments', p_arguments, 'uses', p_uses, 'agent', p_agent, 'reason', p_reason)
    || jsonb_strip_nulls(jsonb_build_object('token', agents.fn_token())));
  return result;
end $$;

create function agents.fn_revoke_standing_approval(p_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  given_owner text;
begin
  select owner into given_owner from agents.standing_approvals where id = p_id for update;
  if given_owner is null then raise exception 'there is no standing approval %', p_id using errcode = 'P0002'; end if;
  perform agents.fn_require_member(given_owner, array['operator', 'admin']);
  update agents.standing_approvals set revoked_at = coalesce(revoked_at, now()) where id = p_id;
  perform agents.fn_audit(given_owner, 'standing:' || p_id, 'standing.revoked', jsonb_strip_nulls(jsonb_build_object('token', agents.fn_token())));
end $$;

revoke execute on all functions in schema agents from public;
grant execute on function agents.fn_invoke_tool(uuid, uuid, text, jsonb, text, numeric, interval, boolean, text, text) to cordon_agent, service_role;
grant execute on function agents.fn_list_budgets(text) to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;
grant execute on function agents.fn_start_team_run(text, text, jsonb, int, interval) to cordon_agent, cordon_operator, cordon_admin;
grant execute on function agents.fn_approve_in_advance(uuid, jsonb, int, interval, text, text) to cordon_operator;
grant execute on function agents.fn_standing_approvals(text) to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;
grant execute on function agents.fn_revoke_standing_approval(uuid) to cordon_operator, cordon_admin;

reset role;

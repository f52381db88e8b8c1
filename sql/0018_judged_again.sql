-- A call that waits is judged again when somebody approves it and when it is claimed: by the tool, the assignment and the
-- profile of that moment. What could not be asked for any more is rejected with the reason, and who waits is told.
set role cordon_owner;

-- Why it could not be asked for now; null where it could. A tool that is disabled comes back as it was: its calls wait.
create function agents.fn_obstacle(p_invocation agents.tool_invocations) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  tool agents.tools_registry;
  assignment agents.tool_assignments;
  profile agents.tool_profiles;
begin
  select * into tool from agents.tools_registry where id = p_invocation.tool_id;
  select * into assignment from agents.tool_assignments where agent = p_invocation.agent and tool_id = p_invocation.tool_id;
  if assignment.allowed is distinct from true then return format('the tool %s is not assigned to %s any more', p_invocation.tool_key, p_invocation.agent); end if;
  if p_invocation.invoked_by = p_invocation.agent and not exists (select from agents.members m where m.owner = p_invocation.owner and m.actor = p_invocation.agent and m.kind = 'agent') then
    return format('%s is no agent of %s any more', p_invocation.agent, p_invocation.owner);
  end if;
  if tool.version <> p_invocation.tool_version then
    return format('superseded: the tool %s has changed since it was asked for (version %s then, %s now)', tool.key, p_invocation.tool_version, tool.version);
  end if;
  select * into profile from agents.tool_profiles where id = assignment.profile_id;
  if not found then select * into profile from agents.tool_profiles where owner = tool.owner and is_default; end if;
  if tool.key = any (profile.deny_tools) or not coalesce(tool.key = any (profile.allow_tools), true) or not coalesce(tool.category = any (profile.tool_groups), true) then
    return format('the profile %s does not allow the tool %s any more', profile.name, tool.key);
  end if;
  -- Nobody was asked, and nobody of the service said that nobody has to be.
  if p_invocation.approval_status = 'not_required' and p_invocation.approval_decided_by is null
     and (coalesce(profile.requires_approval, false) or coalesce((profile.overrides -> tool.key ->> 'requires_approval')::boolean, false)) then
    return format('the profile %s asks about calls of %s now', profile.name, tool.key);
  end if;
  return null;
end $$;

-- Which state may follow which. An approved call can be rejected by the database, when it is judged again.
create or replace function agents.fn_tool_invocations_guard() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    if new.created_at is distinct from agents.fn_time_of(new.id) then raise exception 'the id of a call has its time in it' using errcode = '23514'; end if;
    if new.input_hash is distinct from agents.fn_hash(new.input) then raise exception 'the hash of a call is that of its input' using errcode = '23514'; end if;
    return new;
  end if;
  if (new.id, new.created_at, new.owner, new.team_run_id, new.step_id, new.tool_id, new.tool_key, new.tool_version, new.egress_class, new.agent, new.invoked_by, new.invoked_with,
      new.profile_id, new.input, new.input_hash, new.approval_required, new.cost_estimate, new.prices, new.cost_reserved, new.budgets, new.standing_approval_id,
      new.dispatch)
     is distinct from
     (old.id, old.created_at, old.owner, old.team_run_id, old.step_id, old.tool_id, old.tool_key, old.tool_version, old.egress_class, old.agent, old.invoked_by, old.invoked_with,
      old.profile_id, old.input, old.input_hash, old.approval_required, old.cost_estimate, old.prices, old.cost_reserved, old.budgets, old.standing_approval_id,
      old.dispatch) then
    raise exception 'what was asked for cannot be changed; invoke the tool again' using errcode = '22023';
  end if;
  -- Only a call that a person is asked about again gets the time for that.
  if new.expires_at <> old.expires_at and not (old.status = 'running' and new.status = 'pending' and new.expires_at > old.expires_at) then
    raise exception 'until when invocation % may be run cannot be changed', old.id using errcode = '22023';
  end if;
  if old.status in ('completed', 'failed', 'rejected', 'expired', 'cancelled') then
    raise exception 'invocation % is % already', old.id, old.status using errcode = '22023';
  end if;
  if (new.approval_decided_by, new.approval_reason) is distinct from (old.approval_decided_by, old.approval_reason) and not (old.status = 'pending' and new.status in ('approved', 'rejected')) then
    raise exception 'who decided about invocation %, and why, is said once', old.id using errcode = '22023';
  end if;
  if new.approval_status is distinct from old.approval_status and new.status = old.status then
    raise exception 'what was decided about invocation % cannot be changed', old.id using errcode = '22023';
  end if;
  if new.fence < old.fence then raise exception 'a fence only goes up' using errcode = '22023'; end if;
  if new.status is distinct from old.status and not (old.status, new.status) in (
      ('pending', 'approved'), ('pending', 'rejected'), ('pending', 'expired'), ('pending', 'cancelled'),
      ('approved', 'running'), ('approved', 'rejected'), ('approved', 'expired'), ('approved', 'cancelled'),
      ('running', 'completed'), ('running', 'failed'),
      -- Its runner is lost: it is run again if that does no harm, and asked about again if it might.
      ('running', 'approved'), ('running', 'pending')) then
    raise exception 'invocation % cannot go from % to %', old.id, old.status, new.status using errcode = '22023';
  end if;
  if (old.status, new.status) = ('running', 'approved') and new.egress_class = 'write' then
    raise exception 'a call of the class write is never run again by itself' using errcode = '22023';
  end if;
  if new.status = 'running' and old.status <> 'running' and new.fence <= old.fence then
    raise exception 'a claim needs a new fence' using errcode = '22023';
  end if;
  return new;
end $$;

-- The reason is the error of the call, which its agent reads. Who approved it, and why, stays as it was.
create function agents.fn_supersede(p_invocation agents.tool_invocations, p_reason text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  update agents.tool_invocations set status = 'rejected', error = p_reason, completed_at = clock_timestamp(),
      approval_status = case when approval_status = 'pending' then 'rejected' else approval_status end
    where id = p_invocation.id and created_at = p_invocation.created_at;
  update agents.approvals set status = 'cancelled', decided_at = clock_timestamp() where subject_id = p_invocation.id and status = 'pending';
  perform agents.fn_audit(p_invocation.owner, 'invocation:' || p_invocation.id, 'invocation.superseded', jsonb_build_object('was', p_invocation.status, 'reason', p_reason));
end $$;

-- All that waits and could not be asked for any more, of one team or of all that the caller looks after. It is done after
-- every change that can have such a consequence, in a transaction of its own, and by upkeep.
create function agents.fn_reject_superseded(p_owner text default null) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' set plan_cache_mode = force_generic_plan as $$
declare
  waiting agents.tool_invocations;
  busy text[] := '{}';
  rejected int := 0;
begin
  for waiting in
    select * from (select i.* from agents.tool_invocations i where i.status in ('pending', 'approved') and i.expires_at > statement_timestamp() and (p_owner is null or i.owner = p_owner)
      and agents.fn_keeps_up(i.owner) and agents.fn_obstacle(i) is not null for update skip locked) judged order by judged.owner, agents.fn_chain_of('invocation:' || judged.id)
  loop
    continue when waiting.owner = any (busy);
    begin
      perform agents.fn_supersede(waiting, agents.fn_obstacle(waiting));
      rejected := rejected + 1;
    exception when lock_not_available then busy := busy || waiting.owner;
    end;
  end loop;
  return rejected;
end $$;

create or replace function agents.fn_decide(p_id uuid, p_verdict text, p_reason text, p_hash text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  invocation agents.tool_invocations := agents.fn_lock_invocation(p_id);
  is_decided boolean;
  obstacle text;
  result text := invocation.status;
begin
  -- Before anything is said about its state: who may not decide it learns nothing of it.
  perform agents.fn_require_member(invocation.owner, array['operator']);
  if invocation.status <> 'pending' then raise exception 'invocation % is %', p_id, invocation.status using errcode = '22023', hint = format('what became of it: cordon why %s', p_id); end if;
  if p_verdict = 'approve' then
    -- It ran already: a yes that was meant for the question before that must not answer this one.
    if p_hash is null and invocation.fence > 0 then
      raise exception 'it was asked about before: say the hash of the question that was looked at' using errcode = '22023', hint = 'cordon approvals show prints it';
    end if;
    obstacle := agents.fn_obstacle(invocation);
    if obstacle is not null then
      raise exception '%', obstacle using errcode = case when obstacle like 'superseded:%' then '22023' else '42501' end, detail = 'assignment',
        hint = format('reject it; the agent has to ask again. An admin changes what %s may call: cordon tools assign %s %s', invocation.agent, invocation.tool_key, invocation.agent);
    end if;
    if not exists (select from agents.tools_registry where id = invocation.tool_id and status <> 'disabled') then
      raise exception 'the tool % is disabled', invocation.tool_key using errcode = '22023', hint = format('reject it, or let an admin enable the tool: cordon tools enable %s', invocation.tool_key);
    end if;
    if agents.fn_find_stop(invocation.owner, array['kill'], invocation.agent, invocation.tool_key, (select p.name from agents.tool_profiles p where p.id = invocation.profile_id)) is not null then
      raise exception 'everything of this kind is stopped' using errcode = '42501', detail = 'kill_switch', hint = agents.fn_stop_hint();
    end if;
  end if;
  is_decided := agents.fn_vote('tool_invocation', p_id, p_verdict, p_reason, p_hash, array[invocation.agent, invocation.invoked_by]);
  if is_decided then
    result := case p_verdict when 'approve' then 'approved' else 'rejected' end;
    execute 'update agents.tool_invocations set status = $3, approval_status = $3, approval_decided_by = $4, approval_reason = $5, completed_at = $6 where id = $1 and created_at = $2'
      using p_id, invocation.created_at, result, agents.fn_actor(), p_reason, case when result = 'rejected' then clock_timestamp() end;
  end if;
  perform agents.fn_audit(invocation.owner, 'invocation:' || p_id, case p_verdict when 'approve' then 'invocation.approved' else 'invocation.rejected' end, jsonb_strip_nulls(jsonb_build_object('by', agents.fn_actor(), 'reason', p_reason,
    'input_hash', invocation.input_hash, 'version', invocation.tool_version, 'status', result, 'token', agents.fn_token())));
  return result;
end $$;

-- An agent runs the calls that it asked for to run itself (dispatch 'caller'). Only a runner runs those of others.
create or replace function agents.fn_heartbeat(p_runner text, p_labels text[] default '{}', p_holds text[] default '{}', p_facts jsonb default '{}', p_is_draining boolean default false, p_lease interval default interval '1 minute') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from agents.members where actor = agents.fn_actor() and kind in ('runner', 'agent') and agents.fn_is_about(owner)) then raise exception '% runs for no team', agents.fn_actor() using errcode = '42501', hint = format('an admin of the team says so: cordon team add %s runner', agents.fn_actor()); end if;
  if p_lease not between interval '1 second' and interval '1 hour' then raise exception 'a runner may be silent for a second to an hour' using errcode = '22023'; end if;
  perform agents.fn_require_bounded('what a runner says of its host', p_facts, 65536);
  if pg_column_size(p_facts) > 65536 or pg_column_size(p_labels) + pg_column_size(p_holds) > 65536 then raise exception 'a runner says less of itself' using errcode = '22023'; end if;
  insert into agents.runners (name, labels, holds, facts, is_draining, lease) values (p_runner, p_labels, p_holds, p_facts, p_is_draining, p_lease)
    on conflict (actor, name, team) do update set labels = excluded.labels, holds = excluded.holds, facts = excluded.facts, is_draining = excluded.is_draining, lease = excluded.lease, last_seen = clock_timestamp();
end $$;

drop policy runners_seen on agents.runners;
create policy runners_seen on agents.runners for select
  using (exists (select from agents.members m where m.actor = runners.actor and m.kind in ('runner', 'agent') and runners.team in ('', m.owner)) or pg_has_role(current_user, 'service_role', 'member'));

-- Whether the caller, as this runner, may take the call at all: of their own team, or their own.
create function agents.fn_is_taker_of(p_invocation agents.tool_invocations) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return agents.fn_is_member(p_invocation.owner, case when p_invocation.agent = agents.fn_actor() and p_invocation.dispatch = 'caller' then array['runner', 'agent'] else array['runner'] end);
end $$;

create function agents.fn_is_claimable(p_invocation agents.tool_invocations, p_taker agents.runners) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return p_invocation.expires_at > statement_timestamp() and not p_invocation.cancel_requested and agents.fn_is_taker_of(p_invocation)
    and exists (select from agents.tools_registry t where t.id = p_invocation.tool_id and t.version = p_invocation.tool_version and t.status <> 'disabled'
      and t.needs_labels <@ p_taker.labels and t.needs_boundary <@ p_taker.holds)
    and agents.fn_obstacle(p_invocation) is null
    and agents.fn_find_stop(p_invocation.owner, array['kill', 'pause'], p_invocation.agent, p_invocation.tool_key, (select p.name from agents.tool_profiles p where p.id = p_invocation.profile_id)) is null;
end $$;

-- One call by its id, or the oldest that wait for any runner. The latter looks at all partitions, and is planned once.
create or replace function agents.fn_claim_tool_invocations(p_runner text, p_limit int default 1, p_id uuid default null) returns setof agents.tool_invocations
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  taker agents.runners;
  claimed agents.tool_invocations;
  teams text[];
  picked agents.tool_invocations[];
begin
  select * into taker from agents.runners where actor = agents.fn_actor() and name = p_runner and team = agents.fn_team();
  if not found then raise exception 'the runner % has not been heard of', p_runner using errcode = 'P0002', hint = 'call fn_heartbeat first'; end if;
  if taker.is_draining then return; end if;
  if p_id is not null then
    execute 'select array_agg(i) from (select i.* from agents.tool_invocations i where i.id = $1 and i.created_at = $2 and i.status = ''approved'' and agents.fn_is_claimable(i, $3) for update skip locked) i'
      into picked using p_id, agents.fn_time_of(p_id), taker;
    if picked is null then
      -- It may wait for something that does not come back: then it is over, and who waits is told why.
      for claimed in execute 'select i.* from agents.tool_invocations i where i.id = $1 and i.created_at = $2 and i.status = ''approved'' and agents.fn_is_taker_of(i) and agents.fn_obstacle(i) is not null for update skip locked'
          using p_id, agents.fn_time_of(p_id) loop
        perform agents.fn_supersede(claimed, agents.fn_obstacle(claimed));
      end loop;
      return;
    end if;
  else
    teams := agents.fn_teams_as(array['runner']);
    select array_agg(i order by i.owner, agents.fn_chain_of('invocation:' || i.id)) into picked
      from (select i.* from agents.tool_invocations i where i.status = 'approved' and i.dispatch = 'runners' and i.owner = any (teams) and agents.fn_is_claimable(i, taker)
        order by i.created_at limit p_limit for update of i skip locked) i;
  end if;
  foreach claimed in array coalesce(picked, '{}') loop
    execute 'update agents.tool_invocations set status = ''running'', runner = $3, runner_id = $4, fence = fence + 1, dispatched_at = coalesce(dispatched_at, clock_timestamp()), started_at = clock_timestamp()
        where id = $1 and created_at = $2 returning *' into claimed using claimed.id, claimed.created_at, p_runner, taker.id;
    perform agents.fn_audit(claimed.owner, 'invocation:' || claimed.id, 'invocation.started', jsonb_build_object('runner', p_runner, 'fence', claimed.fence, 'input_hash', claimed.input_hash));
    return next claimed;
  end loop;
end $$;
drop function agents.fn_may_still_call(agents.tool_invocations);

revoke execute on function agents.fn_obstacle(agents.tool_invocations), agents.fn_supersede(agents.tool_invocations, text), agents.fn_reject_superseded(text),
  agents.fn_is_taker_of(agents.tool_invocations), agents.fn_is_claimable(agents.tool_invocations, agents.runners) from public;
grant execute on function agents.fn_reject_superseded(text) to cordon_runner, cordon_operator, cordon_admin, service_role;
grant execute on function agents.fn_heartbeat(text, text[], text[], jsonb, boolean, interval), agents.fn_claim_tool_invocations(text, int, uuid),
  agents.fn_complete_tool_invocation(uuid, text, jsonb, text, numeric, bigint, jsonb), agents.fn_append_output(uuid, bigint, text, text, bigint) to cordon_agent;

reset role;

-- What people say about a call or a run.
set role cordon_owner;

-- How many said yes who still have a word: who is no operator any more has none, and nor has a token that was taken back.
create function agents.fn_agreed(p_approval uuid) returns int
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select count(*) from agents.approvals a join agents.approval_votes v on v.approval_id = a.id
    join agents.members m on m.owner = a.owner and m.actor = v.voter and m.kind = 'operator'
    where a.id = p_approval and agents.fn_is_member(a.owner, array['admin', 'operator', 'agent', 'runner']) and v.verdict = 'approve' and not exists (select from agents.tokens t where t.id = v.token_id and t.revoked_at is not null));
end $$;

-- True when this vote decided it.
create function agents.fn_vote(p_kind text, p_subject uuid, p_verdict text, p_reason text, p_hash text, p_excluded text[]) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  asked agents.approvals;
  token record;
begin
  select * into asked from agents.approvals where subject_kind = p_kind and subject_id = p_subject and status = 'pending' order by created_at desc limit 1 for update;
  if not found then raise exception 'nothing is asked about % %', p_kind, p_subject using errcode = '22023', hint = 'cordon approvals list has what is asked'; end if;
  perform agents.fn_require_member(asked.owner, array['operator']);
  perform agents.fn_require_short('the reason', p_reason);
  if agents.fn_actor() = any (p_excluded || asked.asked_by) then
    raise exception '% asked for it, and cannot decide it', agents.fn_actor() using errcode = '42501', hint = 'another operator decides it';
  end if;
  select * into token from agents.fn_deciding_token(asked.owner, asked.asked_with, p_excluded || asked.asked_by);
  if asked.expires_at <= statement_timestamp() then raise exception 'the question expired at %', asked.expires_at using errcode = '22023', hint = 'it has to be asked for again'; end if;
  if p_hash is not null and p_hash <> asked.arguments_hash then raise exception 'the arguments are not those that were looked at' using errcode = '22023', hint = format('look at it, and name the hash that is printed there: cordon approvals show %s', p_subject); end if;
  begin
    insert into agents.approval_votes (approval_id, voter, verdict, reason, token_id, token_label, token_made_by)
      values (asked.id, agents.fn_actor(), p_verdict, p_reason, token.id, token.label, token.created_by);
  exception when unique_violation then raise exception '% has decided already', agents.fn_actor() using errcode = '22023', hint = format('another operator has to say yes, too; who did says cordon approvals show %s', p_subject);
  end;
  if p_verdict = 'reject' then
    update agents.approvals set status = 'rejected', decided_at = clock_timestamp() where id = asked.id;
    return true;
  end if;
  if agents.fn_agreed(asked.id) < asked.needed then return false; end if;
  update agents.approvals set status = 'approved', decided_at = clock_timestamp() where id = asked.id;
  return true;
end $$;

create function agents.fn_lock_invocation(p_id uuid) returns agents.tool_invocations
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  invocation agents.tool_invocations;
begin
  -- Before it is locked: who has nothing to do with it holds up nobody.
  if not exists (select from agents.tool_invocations i where i.id = p_id and i.created_at = agents.fn_time_of(p_id)
      and (agents.fn_is_member(i.owner, array['admin', 'operator', 'agent', 'runner']) or pg_has_role(agents.fn_caller_role(), 'service_role', 'member'))) then
    raise exception 'there is no invocation %', p_id using errcode = 'P0002';
  end if;
  select * into invocation from agents.tool_invocations where id = p_id and created_at = agents.fn_time_of(p_id) for update;
  if not found or not agents.fn_is_about(invocation.owner) then raise exception 'there is no invocation %', p_id using errcode = 'P0002'; end if;
  return invocation;
end $$;

-- Whether it could be asked for now, too: an assignment that was revoked, and an agent that is gone, end what waits.
create function agents.fn_may_still_call(p_invocation agents.tool_invocations) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select from agents.tool_assignments a join agents.tools_registry t on t.id = a.tool_id left join agents.tool_profiles p on p.id = p_invocation.profile_id
      where a.agent = p_invocation.agent and a.tool_id = p_invocation.tool_id and a.allowed
        and not coalesce(t.key = any (p.deny_tools), false) and coalesce(t.key = any (p.allow_tools), true) and coalesce(t.category = any (p.tool_groups), true))
    and (p_invocation.invoked_by <> p_invocation.agent or exists (select from agents.members m where m.owner = p_invocation.owner and m.actor = p_invocation.agent and m.kind = 'agent'));
end $$;

create function agents.fn_decide(p_id uuid, p_verdict text, p_reason text, p_hash text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  invocation agents.tool_invocations := agents.fn_lock_invocation(p_id);
  is_decided boolean;
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
    if not agents.fn_may_still_call(invocation) then
      raise exception 'the tool % is not assigned to % any more', invocation.tool_key, invocation.agent using errcode = '42501', detail = 'assignment', hint = format('reject it, or let an admin assign the tool: cordon tools assign %s %s', invocation.tool_key, invocation.agent);
    end if;
    if not exists (select from agents.tools_registry where id = invocation.tool_id and version = invocation.tool_version and status <> 'disabled') then
      raise exception 'the tool % has changed since it was asked for', invocation.tool_key using errcode = '22023', hint = 'reject it; the agent has to ask again';
    end if;
    if agents.fn_find_stop(invocation.owner, array['kill'], invocation.agent, invocation.tool_key, (select p.name from agents.tool_profiles p where p.id = invocation.profile_id)) is not null then
      raise exception 'everything of this kind is stopped' using errcode = '42501', detail = 'kill_switch', hint = agents.fn_stop_hint();
    end if;
  end if;
  is_decided := agents.fn_vote('tool_invocation', p_id, p_verdict, p_reason, p_hash, array[invocation.agent, invocation.invoked_by]);
  if is_decided then
    result := case p_verdict when 'approve' then 'approved' else 'rejected' end;
    update agents.tool_invocations set status = result, approval_status = result, approval_decided_by = agents.fn_actor(), approval_reason = p_reason,
      completed_at = case when result = 'rejected' then clock_timestamp() end
      where id = p_id and created_at = invocation.created_at;
  end if;
  perform agents.fn_audit(invocation.owner, 'invocation:' || p_id, case p_verdict when 'approve' then 'invocation.approved' else 'invocation.rejected' end, jsonb_strip_nulls(jsonb_build_object('by', agents.fn_actor(), 'reason', p_reason,
    'input_hash', invocation.input_hash, 'version', invocation.tool_version, 'status', result, 'token', agents.fn_token())));
  return result;
end $$;

create function agents.fn_approve_tool_invocation(p_id uuid, p_reason text default null, p_input_hash text default null) returns text
language sql security definer set search_path = pg_catalog, pg_temp as $$ select agents.fn_decide(p_id, 'approve', p_reason, p_input_hash) $$;

create function agents.fn_reject_tool_invocation(p_id uuid, p_reason text) returns text
language sql security definer set search_path = pg_catalog, pg_temp as $$ select agents.fn_decide(p_id, 'reject', p_reason, null) $$;

create function agents.fn_decide_team_run(p_id uuid, p_verdict text, p_reason text default null, p_plan_hash text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  run agents.team_runs;
begin
  select * into run from agents.team_runs where id = p_id for update;
  if not found or not agents.fn_is_about(run.owner) then raise exception 'there is no run %', p_id using errcode = 'P0002'; end if;
  perform agents.fn_require_member(run.owner, array['operator']);
  if run.status <> 'pending' then raise exception 'run % is %', p_id, run.status using errcode = '22023', hint = format('what became of it: cordon runs show %s', p_id); end if;
  if agents.fn_vote('team_run', p_id, p_verdict, p_reason, p_plan_hash, array[run.started_by]) then
    update agents.team_runs set status = case p_verdict when 'approve' then 'approved' else 'rejected' end where id = p_id returning * into run;
  end if;
  perform agents.fn_audit(run.owner, 'run:' || p_id, case p_verdict when 'approve' then 'run.approved' else 'run.rejected' end, jsonb_strip_nulls(jsonb_build_object('by', agents.fn_actor(), 'reason', p_reason, 'status', run.status, 'token', agents.fn_token())));
  return run.status;
end $$;

-- What waits is over; what runs already is told.
create function agents.fn_end_invocation(p_invocation agents.tool_invocations, p_reason text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if p_invocation.status = 'running' then
    update agents.tool_invocations set cancel_requested = true where id = p_invocation.id and created_at = p_invocation.created_at;
  else
    update agents.tool_invocations set status = 'cancelled', error = p_reason, completed_at = clock_timestamp() where id = p_invocation.id and created_at = p_invocation.created_at;
    update agents.approvals set status = 'cancelled', decided_at = clock_timestamp() where subject_id = p_invocation.id and status = 'pending';
  end if;
end $$;

-- Who asked may take it back; an operator may stop it.
create function agents.fn_cancel_tool_invocation(p_id uuid, p_reason text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  invocation agents.tool_invocations := agents.fn_lock_invocation(p_id);
begin
  perform agents.fn_require_short('the reason', p_reason);
  if agents.fn_actor() not in (invocation.agent, invocation.invoked_by) then perform agents.fn_require_member(invocation.owner, array['operator', 'admin']); end if;
  perform agents.fn_end_invocation(invocation, p_reason);
  perform agents.fn_audit(invocation.owner, 'invocation:' || p_id, 'invocation.cancelled', jsonb_strip_nulls(jsonb_build_object('by', agents.fn_actor(), 'reason', p_reason)));
  return case invocation.status when 'running' then 'running' else 'cancelled' end;
end $$;

revoke execute on all functions in schema agents from public;
grant execute on function agents.fn_agreed(uuid) to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;
grant execute on function agents.fn_approve_tool_invocation(uuid, text, text), agents.fn_reject_tool_invocation(uuid, text), agents.fn_decide_team_run(uuid, text, text, text) to cordon_operator;
grant execute on function agents.fn_cancel_tool_invocation(uuid, text) to cordon_agent, cordon_operator, cordon_admin, service_role;

reset role;

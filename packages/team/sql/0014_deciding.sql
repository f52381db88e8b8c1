-- Deciding about a call. It is checked again when somebody approves it and when a runner claims it, against the tool,
-- assignment and profile of that moment. A call that would no longer be allowed is rejected with the reason.
set role cordon_owner;

-- The number of approving votes that still count. Votes of former operators and by revoked tokens do not.
create function agents.fn_agreed(p_approval uuid) returns int
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select count(*) from agents.approvals a join agents.approval_votes v on v.approval_id = a.id
    join agents.members m on m.owner = a.owner and m.actor = v.voter and m.kind = 'operator'
    where a.id = p_approval and agents.fn_is_member(a.owner, array['admin', 'operator', 'agent', 'runner']) and v.verdict = 'approve' and not exists (select from agents.tokens t where t.id = v.token_id and t.revoked_at is not null));
end $$;

-- Records a vote. True if it decided the question.
create function agents.fn_vote(
  p_kind text, p_subject uuid, p_verdict text, p_reason text, p_hash text, p_excluded text[]
) returns boolean
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

-- Locks a call for the rest of the transaction.
create function agents.fn_lock_invocation(p_id uuid) returns agents.tool_invocations
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  invocation agents.tool_invocations;
begin
  -- Checked before the lock, so that only members of the team and the service can lock a call.
  if not exists (select from agents.tool_invocations i where i.id = p_id and i.created_at = agents.fn_time_of(p_id)
      and (agents.fn_is_member(i.owner, array['admin', 'operator', 'agent', 'runner']) or pg_has_role(agents.fn_caller_role(), 'service_role', 'member'))) then
    raise exception 'there is no invocation %', p_id using errcode = 'P0002';
  end if;
  select * into invocation from agents.tool_invocations where id = p_id and created_at = agents.fn_time_of(p_id) for update;
  if not found or not agents.fn_is_about(invocation.owner) then raise exception 'there is no invocation %', p_id using errcode = 'P0002'; end if;
  return invocation;
end $$;

-- Why the call would no longer be allowed, or null. Calls of a disabled tool wait: it can be enabled again unchanged.
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
    return format('%s is not an agent of %s any more', p_invocation.agent, p_invocation.owner);
  end if;
  if tool.version <> p_invocation.tool_version then
    return format('superseded: the tool %s has changed since it was asked for (version %s then, %s now)', tool.key, p_invocation.tool_version, tool.version);
  end if;
  select * into profile from agents.tool_profiles where id = assignment.profile_id;
  if not found then select * into profile from agents.tool_profiles where owner = tool.owner and is_default; end if;
  if tool.key = any (profile.deny_tools) or not coalesce(tool.key = any (profile.allow_tools), true) or not coalesce(tool.category = any (profile.tool_groups), true) then
    return format('the profile %s does not allow the tool %s any more', profile.name, tool.key);
  end if;
  -- The call was accepted without an answer, and the service did not bypass the approval.
  if p_invocation.approval_status = 'not_required' and p_invocation.approval_decided_by is null
     and (coalesce(profile.requires_approval, false) or coalesce((profile.overrides -> tool.key ->> 'requires_approval')::boolean, false)) then
    return format('the profile %s asks about calls of %s now', profile.name, tool.key);
  end if;
  return null;
end $$;

-- Rejects a call that would no longer be allowed. The reason becomes its error, which its agent reads. Who approved it,
-- and why, does not change.
create function agents.fn_supersede(p_invocation agents.tool_invocations, p_reason text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  update agents.tool_invocations set status = 'rejected', error = p_reason, completed_at = clock_timestamp(),
      approval_status = case when approval_status = 'pending' then 'rejected' else approval_status end
    where id = p_invocation.id and created_at = p_invocation.created_at;
  update agents.approvals set status = 'cancelled', decided_at = clock_timestamp() where subject_id = p_invocation.id and status = 'pending';
  perform agents.fn_audit(p_invocation.owner, 'invocation:' || p_invocation.id, 'invocation.superseded', jsonb_build_object('was', p_invocation.status, 'reason', p_reason));
end $$;

create function agents.fn_decide(p_id uuid, p_verdict text, p_reason text, p_hash text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  invocation agents.tool_invocations := agents.fn_lock_invocation(p_id);
  is_decided boolean;
  obstacle text;
  result text := invocation.status;
begin
  -- Checked first, so that only operators learn the state of the call.
  perform agents.fn_require_member(invocation.owner, array['operator']);
  if invocation.status <> 'pending' then raise exception 'invocation % is %', p_id, invocation.status using errcode = '22023', hint = format('what became of it: cordon why %s', p_id); end if;
  if p_verdict = 'approve' then
    -- It ran before, and this is a second question. An answer to the first one must not count.
    if p_hash is null and invocation.fence > 0 then
      raise exception 'it was asked about before: say the hash of the question that was looked at' using errcode = '22023', hint = 'cordon approvals show prints it';
    end if;
    obstacle := agents.fn_obstacle(invocation);
    if obstacle is not null then
      raise exception '%', obstacle using errcode = case when obstacle like 'superseded:%' then '22023' else '42501' end, detail = 'assignment',
        hint = format('reject it; the agent has to ask again. An admin changes what %s may call: cordon team tools assign %s %s', invocation.agent, invocation.tool_key, invocation.agent);
    end if;
    if not exists (select from agents.tools_registry where id = invocation.tool_id and status <> 'disabled') then
      raise exception 'the tool % is disabled', invocation.tool_key using errcode = '22023', hint = format('reject it, or let an admin enable the tool: cordon team tools enable %s', invocation.tool_key);
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

create function agents.fn_approve_tool_invocation(
  p_id uuid, p_reason text default null, p_input_hash text default null
) returns text
language sql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$ select agents.fn_decide(p_id, 'approve', p_reason, p_input_hash) $$;

create function agents.fn_reject_tool_invocation(p_id uuid, p_reason text) returns text
language sql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$ select agents.fn_decide(p_id, 'reject', p_reason, null) $$;

-- Cancels a waiting call. A running one gets the request to end.
create function agents.fn_end_invocation(p_invocation agents.tool_invocations, p_reason text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  if p_invocation.status = 'running' then
    update agents.tool_invocations set cancel_requested = true where id = p_invocation.id and created_at = p_invocation.created_at;
  else
    update agents.tool_invocations set status = 'cancelled', error = p_reason, completed_at = clock_timestamp() where id = p_invocation.id and created_at = p_invocation.created_at;
    update agents.approvals set status = 'cancelled', decided_at = clock_timestamp() where subject_id = p_invocation.id and status = 'pending';
  end if;
end $$;

-- The caller may withdraw a call, and an operator or admin may cancel it.
create function agents.fn_cancel_tool_invocation(p_id uuid, p_reason text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  invocation agents.tool_invocations := agents.fn_lock_invocation(p_id);
begin
  perform agents.fn_require_short('the reason', p_reason);
  if agents.fn_actor() not in (invocation.agent, invocation.invoked_by) then perform agents.fn_require_member(invocation.owner, array['operator', 'admin']); end if;
  perform agents.fn_end_invocation(invocation, p_reason);
  perform agents.fn_audit(invocation.owner, 'invocation:' || p_id, 'invocation.cancelled', jsonb_strip_nulls(jsonb_build_object('by', agents.fn_actor(), 'reason', p_reason)));
  return case invocation.status when 'running' then 'running' else 'cancelled' end;
end $$;

grant execute on function agents.fn_agreed(uuid)
  to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;
grant execute on function agents.fn_approve_tool_invocation(uuid, text, text),
  agents.fn_reject_tool_invocation(uuid, text)
  to cordon_operator;
grant execute on function agents.fn_cancel_tool_invocation(uuid, text)
  to cordon_agent, cordon_operator, cordon_admin, service_role;

reset role;

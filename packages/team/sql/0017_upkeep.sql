-- Upkeep, about once a minute: calls of silent runners, expired calls and runs, calls that are no longer allowed, and
-- obsolete rows. It reads all partitions. A team whose chains are locked is skipped until the next time.
set role cordon_owner;

-- A gateway and the service keep up all teams, other callers their own. Rows that they change stay locked until they
-- commit.
create function agents.fn_keeps_up_all() returns boolean
language sql stable
return pg_has_role(session_user, 'cordon_gateway', 'member')
  or pg_has_role(agents.fn_caller_role(), 'service_role', 'member');

create function agents.fn_keeps_up(p_owner text) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select agents.fn_keeps_up_all() or agents.fn_is_member(p_owner, array['admin', 'operator', 'runner'])
$$;

-- A call that only reads runs again. A call that writes may have had its effect, so a person decides.
create function agents.fn_recover_invocation(p_lost agents.tool_invocations) returns void
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
    -- The second question has another hash, so that a repeated answer to the first one does not count. The limit of
    -- pending questions does not apply, because the call exists already.
    perform agents.fn_ask(p_lost.owner, 'tool_invocation', p_lost.id, agents.fn_hash(jsonb_build_object('input_hash', p_lost.input_hash, 'may_have_happened', p_lost.fence)), p_lost.tool_version,
      coalesce((select t.approvals_needed from agents.tools_registry t where t.id = p_lost.tool_id), 1),
      format('its runner %s became silent while it ran: it may have happened already', p_lost.runner), until, p_lost.invoked_by, p_lost.invoked_with, p_lost.agent, p_lost.tool_key, p_lost.egress_class);
    perform agents.fn_audit(p_lost.owner, 'invocation:' || p_lost.id, 'invocation.doubtful', jsonb_build_object('runner', p_lost.runner, 'fence', p_lost.fence));
  end if;
end $$;

-- While the server was down it could not hear runners. So after its start each runner has its whole lease again.
create function agents.fn_recover_lost_invocations() returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '1s' set plan_cache_mode = force_generic_plan as $$
declare
  lost agents.tool_invocations;
  busy text[] := '{}';
  recovered int := 0;
begin
  for lost in
    select * from (select i.* from agents.tool_invocations i left join agents.runners r on r.id = i.runner_id
      where i.status = 'running' and agents.fn_keeps_up(i.owner) and greatest(r.last_seen, pg_postmaster_start_time()) < clock_timestamp() - coalesce(r.lease, interval '1 minute') for update of i skip locked) silent order by silent.owner, agents.fn_chain_of('invocation:' || silent.id)
  loop
    continue when lost.owner = any (busy);
    begin
      perform agents.fn_recover_invocation(lost);
      recovered := recovered + 1;
    exception when lock_not_available then busy := busy || lost.owner;
    end;
  end loop;
  return recovered;
end $$;

create function agents.fn_expire_invocations() returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '1s' set plan_cache_mode = force_generic_plan as $$
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

-- Runs that nobody decided in time, and approved runs at their end. Calls of a run have an expiry of their own.
create function agents.fn_expire_team_runs() returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
  late agents.team_runs;
  busy text[] := '{}';
  expired int := 0;
begin
  for late in select * from (select * from agents.team_runs where status in ('pending', 'approved') and expires_at <= statement_timestamp() and agents.fn_keeps_up(owner) for update skip locked) past order by past.owner, agents.fn_chain_of('run:' || past.id) loop
    continue when late.owner = any (busy);
    begin
      update agents.team_runs set status = 'expired' where id = late.id;
      update agents.approvals set status = 'expired', decided_at = clock_timestamp() where subject_id = late.id and status = 'pending';
      perform agents.fn_audit(late.owner, 'run:' || late.id, 'run.expired', jsonb_build_object('was', late.status));
      expired := expired + 1;
    exception when lock_not_available then busy := busy || late.owner;
    end;
  end loop;
  return expired;
end $$;

-- Rejects waiting calls that would no longer be allowed, of one team or of all that the caller keeps up. Clients also
-- call it after every change that can have this effect, in another transaction.
create function agents.fn_reject_superseded(p_owner text default null) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '1s' set plan_cache_mode = force_generic_plan as $$
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

-- Deletes output, requests and counts that nobody needs, and runners that are gone. A caller deletes only rows of its
-- own teams and its own runners, because their owners wait until it commits.
create function agents.fn_tidy() returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '1s' set plan_cache_mode = force_generic_plan as $$
begin
  delete from agents.invocation_output where at < clock_timestamp() - interval '1 hour' and agents.fn_keeps_up(owner);
  delete from agents.invocation_requests where at < clock_timestamp() - interval '1 day' and agents.fn_keeps_up(owner);
  delete from agents.budget_releases r using agents.budgets b where b.id = r.budget_id and r.span_start + b.span < now() - interval '2 days' and agents.fn_keeps_up(b.owner);
  delete from agents.runners r where r.last_seen < clock_timestamp() - interval '1 day'
    and (agents.fn_keeps_up_all() or (r.actor = agents.fn_actor() and r.team = agents.fn_team()))
    and not exists (select from agents.tool_invocations i where i.status = 'running' and i.runner_id = r.id);
end $$;

grant execute on function agents.fn_recover_lost_invocations(), agents.fn_expire_invocations(),
  agents.fn_expire_team_runs(), agents.fn_tidy()
  to cordon_runner, cordon_admin, service_role;
grant execute on function agents.fn_reject_superseded(text)
  to cordon_runner, cordon_operator, cordon_admin, service_role;

reset role;

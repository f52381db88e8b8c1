-- Runs of a team: a plan that people agreed to, and the calls that are made for it (0006 starts one, 0007 decides it).
set role cordon_owner;

-- Which state may follow which, and that the plan stays what was shown. Whoever changes a row, with whatever rights, does so along these.
create function agents.fn_team_runs_guard() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    if new.status <> 'pending' then raise exception 'a run begins with a question, not %', new.status using errcode = '22023'; end if;
    return new;
  end if;
  if old.status in ('rejected', 'expired', 'cancelled') then raise exception 'run % is % already', old.id, old.status using errcode = '22023'; end if;
  if tg_op = 'DELETE' then raise exception 'run % is %, and stays until it has ended', old.id, old.status using errcode = '22023'; end if;
  if (new.id, new.owner, new.name, new.plan, new.started_by, new.expires_at, new.created_at) is distinct from (old.id, old.owner, old.name, old.plan, old.started_by, old.expires_at, old.created_at) then
    raise exception 'what a run is for cannot be changed; start another' using errcode = '22023';
  end if;
  if new.status is distinct from old.status and not (old.status, new.status) in (
      ('pending', 'approved'), ('pending', 'rejected'), ('pending', 'expired'), ('pending', 'cancelled'),
      ('approved', 'expired'), ('approved', 'cancelled')) then
    raise exception 'run % cannot go from % to %', old.id, old.status, new.status using errcode = '22023';
  end if;
  return new;
end $$;
create trigger trg_team_runs_guard before insert or update on agents.team_runs for each row execute function agents.fn_team_runs_guard();
-- What has ended may go when what it was about goes.
create trigger trg_team_runs_kept before delete on agents.team_runs for each row when (old.status in ('pending', 'approved')) execute function agents.fn_team_runs_guard();

create function agents.fn_team_runs_notify() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('tool_invocation', new.id || ' ' || new.status);
  return null;
end $$;
create trigger trg_team_runs_notify after update on agents.team_runs for each row when (new.status <> old.status) execute function agents.fn_team_runs_notify();

create index team_runs_open on agents.team_runs (expires_at) where status in ('pending', 'approved');
create index team_runs_of on agents.team_runs (owner, created_at);
create index tool_invocations_of_run on agents.tool_invocations (team_run_id) where team_run_id is not null;

-- Who started it may take it back; an operator or an admin may stop it. What is open of its calls goes with it: what waits is
-- cancelled, and what runs is told.
create function agents.fn_cancel_team_run(p_id uuid, p_reason text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  run agents.team_runs;
  call agents.tool_invocations;
  subjects text[] := array['run:' || p_id];
  subject text;
begin
  select * into run from agents.team_runs where id = p_id for update;
  if not found or not agents.fn_is_about(run.owner) then raise exception 'there is no run %', p_id using errcode = 'P0002'; end if;
  perform agents.fn_require_short('the reason', p_reason);
  perform agents.fn_require_member(run.owner, case when agents.fn_actor() = run.started_by then array['agent', 'operator', 'admin'] else array['operator', 'admin'] end);
  if run.status not in ('pending', 'approved') then raise exception 'run % is %', p_id, run.status using errcode = '22023'; end if;
  update agents.team_runs set status = 'cancelled' where id = p_id;
  update agents.approvals set status = 'cancelled', decided_at = clock_timestamp() where subject_id = p_id and status = 'pending';
  for call in
    select * from agents.tool_invocations where team_run_id = p_id and created_at >= agents.fn_time_of(p_id) and status in ('pending', 'approved', 'running') for update
  loop
    perform agents.fn_end_invocation(call, coalesce(p_reason, 'its run was cancelled'));
    subjects := subjects || ('invocation:' || call.id);
  end loop;
  -- In the order in which everybody takes chains.
  for subject in select each from unnest(subjects) as each order by agents.fn_chain_of(each) loop
    perform agents.fn_audit(run.owner, subject, case when subject like 'run:%' then 'run.cancelled' else 'invocation.cancelled' end,
      jsonb_strip_nulls(jsonb_build_object('by', agents.fn_actor(), 'run', p_id, 'reason', p_reason, 'token', agents.fn_token())));
  end loop;
  return 'cancelled';
end $$;

-- Runs that nobody decided in time, and those whose time is over. Calls that were asked for have a time of their own.
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

revoke execute on function agents.fn_team_runs_guard(), agents.fn_team_runs_notify(), agents.fn_cancel_team_run(uuid, text), agents.fn_expire_team_runs() from public;
grant execute on function agents.fn_cancel_team_run(uuid, text) to cordon_agent, cordon_operator, cordon_admin, service_role;
grant execute on function agents.fn_expire_team_runs() to cordon_runner, cordon_admin, service_role;

reset role;

-- Runs of a team: a plan that people approve, and the calls that are made for it.
set role cordon_owner;

create table agents.team_runs (
  id uuid primary key default agents.fn_new_id(),
  owner text not null,
  name text not null,
  plan jsonb not null default '{}',
  status text not null default 'pending'
    check (status in ('pending', 'approved', 'rejected', 'expired', 'cancelled')),
  started_by text not null default agents.fn_actor(),
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index team_runs_open on agents.team_runs (expires_at) where status in ('pending', 'approved');
create index team_runs_of on agents.team_runs (owner, created_at);

-- The allowed changes of a run, for everybody with any rights. The plan never changes after people saw it.
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
create trigger trg_team_runs_guard before insert or update on agents.team_runs
  for each row execute function agents.fn_team_runs_guard();
-- Retention may delete a run that has ended.
create trigger trg_team_runs_kept before delete on agents.team_runs
  for each row when (old.status in ('pending', 'approved')) execute function agents.fn_team_runs_guard();

create function agents.fn_team_runs_notify() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_notify('tool_invocation', new.id);
  return null;
end $$;
create trigger trg_team_runs_notify after update on agents.team_runs
  for each row when (new.status <> old.status) execute function agents.fn_team_runs_notify();

alter table agents.team_runs enable row level security;
create policy runs_seen on agents.team_runs for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])),
    started_by, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));
grant select on agents.team_runs to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

create function agents.fn_start_team_run(
  p_owner text, p_name text, p_plan jsonb default '{}', p_needed int default 1,
  p_valid interval default interval '1 day'
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  new_id uuid;
begin
  perform agents.fn_require_member(p_owner, array['agent', 'operator', 'admin']);
  perform agents.fn_require_bounded('the plan', p_plan), agents.fn_require_short('the name of the run', p_name);
  if p_valid <= interval '0' or p_valid > interval '30 days' or p_needed not between 1 and 20 then raise exception 'a run is valid for up to 30 days, and needs 1 to 20 people' using errcode = '22023'; end if;
  perform agents.fn_require_room(p_owner, agents.fn_actor());
  insert into agents.team_runs (owner, name, plan, expires_at) values (p_owner, p_name, p_plan, now() + p_valid) returning id into new_id;
  perform agents.fn_ask(p_owner, 'team_run', new_id, agents.fn_hash(p_plan), null, p_needed, p_name, now() + p_valid);
  perform agents.fn_notify('tool_invocation_approval_required', new_id);
  perform agents.fn_audit(p_owner, 'run:' || new_id, 'run.asked', jsonb_strip_nulls(jsonb_build_object('name', p_name, 'plan_hash', agents.fn_hash(p_plan), 'token', agents.fn_token())));
  return new_id;
end $$;

create function agents.fn_decide_team_run(
  p_id uuid, p_verdict text, p_reason text default null, p_plan_hash text default null
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  run agents.team_runs;
begin
  select * into run from agents.team_runs where id = p_id for update;
  if not found or not agents.fn_is_about(run.owner) then raise exception 'there is no run %', p_id using errcode = 'P0002'; end if;
  perform agents.fn_require_member(run.owner, array['operator']);
  if run.status <> 'pending' then raise exception 'run % is %', p_id, run.status using errcode = '22023', hint = format('what became of it: cordon team runs show %s', p_id); end if;
  if agents.fn_vote('team_run', p_id, p_verdict, p_reason, p_plan_hash, array[run.started_by]) then
    update agents.team_runs set status = case p_verdict when 'approve' then 'approved' else 'rejected' end where id = p_id returning * into run;
  end if;
  perform agents.fn_audit(run.owner, 'run:' || p_id, case p_verdict when 'approve' then 'run.approved' else 'run.rejected' end, jsonb_strip_nulls(jsonb_build_object('by', agents.fn_actor(), 'reason', p_reason, 'status', run.status, 'token', agents.fn_token())));
  return run.status;
end $$;

-- The starter may withdraw a run, and an operator or admin may cancel it. Its waiting calls are cancelled, and its
-- running calls get the request to end.
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
  -- In the order of the chains, as fn_audit requires.
  for subject in select each from unnest(subjects) as each order by agents.fn_chain_of(each) loop
    perform agents.fn_audit(run.owner, subject, case when subject like 'run:%' then 'run.cancelled' else 'invocation.cancelled' end,
      jsonb_strip_nulls(jsonb_build_object('by', agents.fn_actor(), 'run', p_id, 'reason', p_reason, 'token', agents.fn_token())));
  end loop;
  return 'cancelled';
end $$;

grant execute on function agents.fn_start_team_run(text, text, jsonb, int, interval)
  to cordon_agent, cordon_operator, cordon_admin;
grant execute on function agents.fn_decide_team_run(uuid, text, text, text) to cordon_operator;
grant execute on function agents.fn_cancel_team_run(uuid, text)
  to cordon_agent, cordon_operator, cordon_admin, service_role;

reset role;

-- Calls of tools: their rows, their states, and who sees them.
--
-- A call costs the same with any number of partitions. A statement that is planned once for all ids opens and locks
-- every partition each time it runs. So statements about one call are planned with its id, which contains its time, and
-- open one partition: by EXECUTE, or in a function with force_custom_plan. Functions that read all partitions (upkeep,
-- and claims without an id) are planned once, with force_generic_plan. Policies never look up a call: each row has the
-- columns that they compare.
set role cordon_owner;

create table agents.tool_invocations (
  id uuid not null default agents.fn_new_id(),
  created_at timestamptz not null,
  owner text not null,
  team_run_id uuid,
  step_id text,
  tool_id uuid not null,
  tool_key text not null,
  tool_version int not null,
  egress_class text not null,
  agent text not null,
  invoked_by text not null,
  -- The token of the caller, if it had one.
  invoked_with uuid,
  profile_id uuid,
  input jsonb not null,
  input_hash text not null,
  output jsonb,
  -- How the output differs from the tool's output schema, if it does.
  output_problem text,
  status text not null check (status in
    ('pending', 'approved', 'rejected', 'running', 'completed', 'failed', 'expired', 'cancelled')),
  approval_status text not null check (approval_status in ('pending', 'approved', 'rejected', 'not_required')),
  approval_required boolean not null,
  approval_decided_by text,
  approval_reason text,
  standing_approval_id uuid,
  error text,
  cost_estimate numeric,
  -- The cost that these budgets reserve while the call is open.
  cost_reserved numeric not null default 0,
  budgets uuid[] not null default '{}',
  -- The prices of this version of the tool.
  prices jsonb,
  -- The database computes the first from usage and prices. The runner reports the second. The larger one counts.
  cost_measured numeric,
  cost_reported numeric,
  cost_deviates boolean,
  usage jsonb,
  -- The name of the runner, for people. Several runners can have the same name, and the id tells them apart.
  runner text,
  runner_id uuid,
  -- Each claim increments it. A result counts only with the fence of the current claim.
  fence bigint not null default 0,
  cancel_requested boolean not null default false,
  -- Who runs the call: any suitable runner, or the caller itself.
  dispatch text not null default 'runners' check (dispatch in ('runners', 'caller')),
  expires_at timestamptz not null,
  dispatched_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  primary key (created_at, id),
  -- PostgreSQL reads and plans each check again with every statement, so there are few. fn_tool_invocations_guard
  -- checks columns that never change, once.
  check (least(cost_estimate, cost_reserved, cost_measured, cost_reported) >= 0),
  check (approval_required or approval_status = 'not_required'),
  check (not approval_required or status not in ('approved', 'running', 'completed') or approval_status = 'approved')
) partition by range (created_at);

create table agents.tool_invocations_other partition of agents.tool_invocations default;
create index tool_invocations_waiting on agents.tool_invocations (created_at) where status = 'approved';
create index tool_invocations_open on agents.tool_invocations (expires_at) where status in ('pending', 'approved');
create index tool_invocations_running on agents.tool_invocations (runner_id) where status = 'running';
create index tool_invocations_of_agent on agents.tool_invocations (owner, agent, created_at);
create index tool_invocations_of_run on agents.tool_invocations (team_run_id) where team_run_id is not null;

-- The allowed changes of a call, for everybody with any rights. The database itself rejects an approved call that would
-- no longer be allowed.
create function agents.fn_tool_invocations_guard() returns trigger
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
  -- Only a call that needs a second answer gets more time.
  if new.expires_at <> old.expires_at and not (old.status = 'running' and new.status = 'pending' and new.expires_at > old.expires_at) then
    raise exception 'until when invocation % may be run cannot be changed', old.id using errcode = '22023';
  end if;
  if old.status in ('completed', 'failed', 'rejected', 'expired', 'cancelled') then
    raise exception 'invocation % is % already', old.id, old.status using errcode = '22023';
  end if;
  if (new.approval_decided_by, new.approval_reason) is distinct from (old.approval_decided_by, old.approval_reason) and not (old.status = 'pending' and new.status in ('approved', 'rejected')) then
    raise exception 'the decision about invocation % was recorded already, and its author and reason cannot be changed', old.id using errcode = '22023';
  end if;
  if new.approval_status is distinct from old.approval_status and new.status = old.status then
    raise exception 'the decision about invocation % cannot be changed', old.id using errcode = '22023';
  end if;
  if new.fence < old.fence then raise exception 'a fence only goes up' using errcode = '22023'; end if;
  if new.status is distinct from old.status and not (old.status, new.status) in (
      ('pending', 'approved'), ('pending', 'rejected'), ('pending', 'expired'), ('pending', 'cancelled'),
      ('approved', 'running'), ('approved', 'rejected'), ('approved', 'expired'), ('approved', 'cancelled'),
      ('running', 'completed'), ('running', 'failed'),
      -- Its runner is lost. A call that only reads runs again. Otherwise a person is asked.
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
create trigger trg_tool_invocations_guard before insert or update on agents.tool_invocations
  for each row execute function agents.fn_tool_invocations_guard();
create trigger trg_tool_invocations_kept before delete on agents.tool_invocations
  for each row execute function agents.fn_refuse_change();

-- Every login of every team can listen. So a notification has a hash instead of the id: who knows the id can compute
-- it, and others cannot ask about the call.
create function agents.fn_notify(p_channel text, p_id uuid) returns void
language sql set search_path = pg_catalog, pg_temp as $$ select pg_notify(p_channel, left(encode(sha256(convert_to(p_id::text, 'UTF8')), 'hex'), 32)) $$;

-- Tells clients that wait for a call. Transactions with notifications commit one after the other, so nothing is sent
-- when nobody waits: a call that its caller runs itself, without approval, sends none.
create function agents.fn_tool_invocations_notify() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_new boolean := tg_op = 'INSERT';
  before text := case when is_new then '' else old.status end;
begin
  if not is_new and new.cancel_requested and not old.cancel_requested then perform agents.fn_notify('tool_invocation', new.id); end if;
  if new.status = before then return null; end if;
  if 'pending' in (before, new.status) or new.status in ('cancelled', 'expired', 'rejected') or (new.dispatch = 'runners' and new.status in ('completed', 'failed')) then
    perform agents.fn_notify('tool_invocation', new.id);
  end if;
  if new.status = 'pending' then perform agents.fn_notify('tool_invocation_approval_required', new.id); end if;
  return null;
end $$;
create trigger trg_tool_invocations_notify after insert or update on agents.tool_invocations
  for each row execute function agents.fn_tool_invocations_notify();

-- Whether the caller runs its own call. It is a separate function so that only one partition is locked. As part of a
-- larger statement it would lock all of them.
create function agents.fn_runs_at_caller(p_id uuid) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  return exists (select from agents.tool_invocations i where i.id = p_id and i.created_at = agents.fn_time_of(p_id) and i.dispatch = 'caller');
end $$;

-- An agent sees only its own calls, because calls of others may be confidential.
alter table agents.tool_invocations enable row level security;
create policy invocations_seen on agents.tool_invocations for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])),
    agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));
grant select on agents.tool_invocations to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

-- Why a call was accepted, asked about, paused or refused.
create table agents.policy_evaluations (
  at timestamptz not null default clock_timestamp(),
  owner text not null,
  -- Null if the call was refused. Then tool_id and agent are set.
  invocation_id uuid,
  tool_id uuid,
  agent text,
  check (invocation_id is not null or (tool_id is not null and agent is not null)),
  point text not null check (point in ('pre_tool', 'pre_run')),
  type text not null check (type in
    ('assignment', 'profile', 'schema', 'budget', 'kill_switch', 'pause', 'approval', 'waiting')),
  verdict text not null check (verdict in ('allow', 'deny', 'pause', 'require_approval')),
  reason text not null
);
create index policy_evaluations_of on agents.policy_evaluations (invocation_id) where invocation_id is not null;
create index policy_evaluations_refused on agents.policy_evaluations (tool_id, agent, at)
  where invocation_id is null;

-- The refusal of a call rolls back its transaction. So the client (Cordon's library or server) records it afterwards,
-- in another transaction. A caller can record only its own refusals. Each kind is recorded once in ten seconds, so that
-- many refusals do not fill the log.
create function agents.fn_note_refusal(p_tool uuid, p_agent text, p_type text, p_reason text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  tool agents.tools_registry;
begin
  select * into tool from agents.tools_registry where id = p_tool;
  if not found then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool.owner, array['agent']);
  if p_agent is distinct from agents.fn_actor() then raise exception '% does not speak for %', agents.fn_actor(), p_agent using errcode = '42501'; end if;
  if exists (select from agents.policy_evaluations where invocation_id is null and tool_id = p_tool and agent = p_agent and type = p_type and at > clock_timestamp() - interval '10 seconds') then return; end if;
  insert into agents.policy_evaluations (owner, tool_id, agent, point, type, verdict, reason) values (tool.owner, p_tool, p_agent, 'pre_tool', p_type, 'deny', left(p_reason, 1000));
  perform agents.fn_audit(tool.owner, 'tool:' || p_tool, 'invocation.refused', jsonb_build_object('tool', tool.key, 'agent', p_agent, 'by', p_type, 'reason', left(p_reason, 1000)));
end $$;

alter table agents.policy_evaluations enable row level security;
create policy evaluations_of_own on agents.policy_evaluations as restrictive for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
create policy evaluations_seen on agents.policy_evaluations for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])),
    agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));
grant select on agents.policy_evaluations to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

grant execute on function agents.fn_runs_at_caller(uuid)
  to cordon_admin, cordon_operator, cordon_agent, cordon_runner, cordon_gateway, service_role;
grant execute on function agents.fn_note_refusal(uuid, text, text, text) to cordon_agent;

reset role;

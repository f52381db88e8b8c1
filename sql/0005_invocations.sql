-- Calls of tools, and what people said about them. An id carries its time, so that one row is found in one partition.
set role cordon_owner;

create function agents.fn_new_id() returns uuid
language sql volatile
return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid;

create function agents.fn_time_of(p_id uuid) returns timestamptz
language sql immutable parallel safe
return to_timestamp(('x0000' || substr(replace(p_id::text, '-', ''), 1, 12))::bit(64)::bigint / 1000.0);

create function agents.fn_hash(p_value jsonb) returns text
language sql stable
return 'sha256:' || encode(sha256(convert_to(p_value::text, 'UTF8')), 'hex');

create table agents.team_runs (
  id uuid primary key default agents.fn_new_id(),
  owner text not null,
  name text not null,
  plan jsonb not null default '{}',
  status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'expired', 'cancelled')),
  started_by text not null default agents.fn_actor(),
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);

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
  -- The token by which who asked was known, where it was by one.
  invoked_with uuid,
  profile_id uuid,
  input jsonb not null,
  input_hash text not null,
  output jsonb,
  -- How it differs from what the tool was registered to give, where it does.
  output_problem text,
  status text not null check (status in ('pending', 'approved', 'rejected', 'running', 'completed', 'failed', 'expired', 'cancelled')),
  approval_status text not null check (approval_status in ('pending', 'approved', 'rejected', 'not_required')),
  approval_required boolean not null,
  approval_decided_by text,
  approval_reason text,
  standing_approval_id uuid,
  error text,
  cost_estimate numeric,
  -- Counted while it is open, in these budgets.
  cost_reserved numeric not null default 0,
  budgets uuid[] not null default '{}',
  -- Of the version of the tool that was asked for.
  prices jsonb,
  -- By the database, from the usage and the prices; and what the runner said by itself. The larger one counts.
  cost_measured numeric,
  cost_reported numeric,
  cost_deviates boolean,
  usage jsonb,
  -- By its name, for people; which of that name it is says its id (0008).
  runner text,
  runner_id uuid,
  -- Goes up with every claim: whoever completes a call must know the one that it was claimed with.
  fence bigint not null default 0,
  cancel_requested boolean not null default false,
  -- Who runs it: any runner that can, or who asked for it (and who goes on with it by its id).
  dispatch text not null default 'runners' check (dispatch in ('runners', 'caller')),
  expires_at timestamptz not null,
  dispatched_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  primary key (created_at, id),
  -- A condition is read and planned again with every statement: there are few, and what cannot change is looked at once
  -- (fn_tool_invocations_guard).
  check (least(cost_estimate, cost_reserved, cost_measured, cost_reported) >= 0),
  check (approval_required or approval_status = 'not_required'),
  check (not approval_required or status not in ('approved', 'running', 'completed') or approval_status = 'approved')
) partition by range (created_at);

create table agents.tool_invocations_other partition of agents.tool_invocations default;
create index tool_invocations_waiting on agents.tool_invocations (created_at) where status = 'approved';
create index tool_invocations_open on agents.tool_invocations (expires_at) where status in ('pending', 'approved');
create index tool_invocations_running on agents.tool_invocations (runner_id) where status = 'running';
create index tool_invocations_of_agent on agents.tool_invocations (owner, agent, created_at);

-- One table for everything that people are asked about.
create table agents.approvals (
  id uuid primary key default agents.fn_new_id(),
  owner text not null,
  subject_kind text not null check (subject_kind in ('tool_invocation', 'team_run')),
  subject_id uuid not null,
  -- What was asked about: these arguments, of this version of the tool.
  arguments_hash text not null,
  tool_version int,
  asked_by text not null,
  asked_with uuid,
  needed int not null check (needed >= 1),
  why text not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'expired', 'cancelled')),
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  decided_at timestamptz
);
create index approvals_open on agents.approvals (owner, created_at) where status = 'pending';
create index approvals_of on agents.approvals (subject_id, created_at);

create table agents.approval_votes (
  approval_id uuid not null references agents.approvals on delete cascade,
  voter text not null,
  verdict text not null check (verdict in ('approve', 'reject')),
  reason text,
  -- The token by which the voter was known, as it was when it was made: who sees the vote need not see tokens.
  token_id uuid,
  token_label text,
  token_made_by text,
  at timestamptz not null default clock_timestamp(),
  primary key (approval_id, voter),
  check ((token_id is null) = (token_made_by is null))
);
create trigger trg_approval_votes_unchanged before update or delete on agents.approval_votes for each row execute function agents.fn_refuse_change();

-- A yes in advance: this version of this tool, arguments of this form, until then, this often.
create table agents.standing_approvals (
  id uuid primary key default agents.fn_new_id(),
  owner text not null,
  tool_id uuid not null references agents.tools_registry,
  tool_version int not null,
  agent text,
  arguments jsonb not null,
  uses_left int not null check (uses_left >= 0),
  expires_at timestamptz not null,
  author text not null default agents.fn_actor(),
  given_with uuid default agents.fn_token(),
  reason text not null check (reason <> ''),
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
create index standing_approvals_of on agents.standing_approvals (tool_id) where revoked_at is null and uses_left > 0;

create table agents.policy_evaluations (
  at timestamptz not null default clock_timestamp(),
  owner text not null,
  -- None where no call came of it: then the tool, and who asked.
  invocation_id uuid,
  tool_id uuid,
  agent text,
  check (invocation_id is not null or (tool_id is not null and agent is not null)),
  point text not null check (point in ('pre_tool', 'pre_run')),
  type text not null check (type in ('assignment', 'profile', 'schema', 'budget', 'kill_switch', 'pause', 'approval')),
  verdict text not null check (verdict in ('allow', 'deny', 'pause', 'require_approval')),
  reason text not null
);
create index policy_evaluations_of on agents.policy_evaluations (invocation_id) where invocation_id is not null;
create index policy_evaluations_refused on agents.policy_evaluations (tool_id, agent, at) where invocation_id is null;

-- Which state may follow which. Whoever changes a row, with whatever rights, does so along these.
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
      ('approved', 'running'), ('approved', 'expired'), ('approved', 'cancelled'),
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
create trigger trg_tool_invocations_guard before insert or update on agents.tool_invocations for each row execute function agents.fn_tool_invocations_guard();
create trigger trg_tool_invocations_kept before delete on agents.tool_invocations for each row execute function agents.fn_refuse_change();

-- Who waits hears of it: the id and the new state. Nobody else is told, because those who tell something commit one
-- after the other: a call that its caller runs itself, and nobody was asked about, has nobody who waits for it.
create function agents.fn_tool_invocations_notify() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_new boolean := tg_op = 'INSERT';
  before text := case when is_new then '' else old.status end;
begin
  if not is_new and new.cancel_requested and not old.cancel_requested then perform pg_notify('tool_invocation', new.id || ' cancel'); end if;
  if new.status = before then return null; end if;
  if 'pending' in (before, new.status) or new.status in ('cancelled', 'expired') or (new.dispatch = 'runners' and new.status in ('completed', 'failed')) then
    perform pg_notify('tool_invocation', new.id || ' ' || new.status);
  end if;
  if new.status = 'pending' then perform pg_notify('tool_invocation_approval_required', new.id::text); end if;
  return null;
end $$;
create trigger trg_tool_invocations_notify after insert or update on agents.tool_invocations for each row execute function agents.fn_tool_invocations_notify();

do $$
declare
  name text;
begin
  foreach name in array array['team_runs', 'tool_invocations', 'approvals', 'standing_approvals', 'policy_evaluations'] loop
    execute format('alter table agents.%I enable row level security', name);
    execute format('grant select on agents.%I to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role', name);
  end loop;
end $$;
-- An agent sees what it asked for and nobody else's: what others asked for may be confidential.
create policy invocations_seen on agents.tool_invocations for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])), agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));
create policy runs_seen on agents.team_runs for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])), started_by, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));
create policy standing_seen on agents.standing_approvals for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])), agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));
-- These are about something that is seen or not, which costs more to find out: nothing of other teams comes as far as that.
create policy approvals_of_own on agents.approvals as restrictive for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
create policy approvals_seen on agents.approvals for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])), asked_by, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent'])))
  or exists (select from agents.tool_invocations i where i.id = subject_id and i.created_at = agents.fn_time_of(subject_id)));
create policy evaluations_of_own on agents.policy_evaluations as restrictive for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
create policy evaluations_seen on agents.policy_evaluations for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])), agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent'])))
  or exists (select from agents.tool_invocations i where i.id = invocation_id and i.created_at = agents.fn_time_of(invocation_id)));

alter table agents.approval_votes enable row level security;
create policy votes_of_own on agents.approval_votes for select using (exists (select from agents.approvals a where a.id = approval_id));
grant select on agents.approval_votes to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

revoke execute on all functions in schema agents from public;
grant execute on function agents.fn_time_of(uuid) to cordon_admin, cordon_operator, cordon_agent, cordon_runner, cordon_gateway, service_role;

reset role;

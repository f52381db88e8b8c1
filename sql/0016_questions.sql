-- Questions that wait for people. One agent must neither hide the questions of others nor ask without a limit, and a
-- list of questions must not read the calls, which lie in many partitions: a question keeps what lists show and filter.
set role cordon_owner;

alter table agents.approvals add column agent text, add column tool_key text, add column egress_class text, add column turn bigint not null default 0;
update agents.approvals a set agent = i.agent, tool_key = i.tool_key, egress_class = i.egress_class from agents.tool_invocations i where i.id = a.subject_id;
update agents.approvals set agent = asked_by where agent is null;
update agents.approvals a set turn = n.turn
  from (select id, row_number() over (partition by owner, agent order by created_at, id) as turn from agents.approvals where status = 'pending') n where n.id = a.id;
alter table agents.approvals alter column agent set not null;
drop index agents.approvals_open;
create index approvals_turns on agents.approvals (owner, turn, id) where status = 'pending';
create index approvals_of_agent on agents.approvals (owner, agent, turn) where status = 'pending';

-- Who asked, and for whom it was asked: both see the question.
drop policy approvals_seen on agents.approvals;
create policy approvals_seen on agents.approvals for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])), asked_by, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent'])))
    or agents.fn_sees(owner, '{}', agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));

-- How many questions may wait at the same time, of one agent. The row of agent '' is the default of its team. A row is
-- also what two requests of the same agent wait for, so that both count. Nobody but these functions can lock it.
create table agents.waiting_limits (
  owner text not null,
  agent text not null,
  most int check (most between 0 and 100000),
  primary key (owner, agent)
);
alter table agents.waiting_limits enable row level security;
create policy waiting_limits_of_own on agents.waiting_limits for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
grant select on agents.waiting_limits to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

create function agents.fn_most_waiting(p_owner text, p_agent text) returns int
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((select most from agents.waiting_limits where owner = p_owner and agent = p_agent), (select most from agents.waiting_limits where owner = p_owner and agent = ''), 100);
end $$;

create function agents.fn_require_room(p_owner text, p_agent text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  most int := agents.fn_most_waiting(p_owner, p_agent);
  waiting int;
begin
  perform from agents.waiting_limits where owner = p_owner and agent = p_agent for no key update;
  if not found then
    insert into agents.waiting_limits (owner, agent) values (p_owner, p_agent) on conflict do nothing;
    perform from agents.waiting_limits where owner = p_owner and agent = p_agent for no key update;
  end if;
  select count(*) into waiting from (select from agents.approvals where owner = p_owner and agent = p_agent and status = 'pending' and expires_at > statement_timestamp() limit most) counted;
  if waiting >= most then
    raise exception '% has % questions waiting, and may have no more than %', p_agent, waiting, most using errcode = '53400', detail = 'waiting',
      hint = format('wait for an answer, or take a call back: cordon calls cancel ID; an admin changes the limit: cordon team limit --agent %s --waiting N', p_agent);
  end if;
end $$;

-- Null takes the limit away: then the default of the team counts, or 100.
create function agents.fn_limit_waiting(p_owner text, p_most int, p_agent text default '') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  if p_most not between 0 and 100000 then raise exception 'a limit of waiting questions is a number from 0 to 100000' using errcode = '22023'; end if;
  insert into agents.waiting_limits as w (owner, agent, most) values (p_owner, p_agent, p_most) on conflict (owner, agent) do update set most = excluded.most;
  perform agents.fn_audit(p_owner, 'limit:' || p_agent, 'limit.set', jsonb_build_object('agent', nullif(p_agent, ''), 'waiting', p_most));
end $$;

-- Questions are listed by turn. The turn of a question is one more than the last of its agent that waits, and not
-- before the first that waits in the team. So agents take turns, a question keeps its place, and pages do not overlap.
drop function agents.fn_ask(text, text, uuid, text, int, int, text, timestamptz, text, uuid);
create function agents.fn_ask(p_owner text, p_kind text, p_subject uuid, p_hash text, p_version int, p_needed int, p_why text, p_expires timestamptz,
  p_asked_by text default agents.fn_actor(), p_asked_with uuid default agents.fn_token(), p_agent text default null, p_tool text default null, p_class text default null) returns uuid
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into agents.approvals (owner, subject_kind, subject_id, arguments_hash, tool_version, asked_by, asked_with, needed, why, expires_at, agent, tool_key, egress_class, turn)
    values (p_owner, p_kind, p_subject, p_hash, p_version, p_asked_by, p_asked_with, p_needed, p_why, p_expires, coalesce(p_agent, p_asked_by), p_tool, p_class,
      1 + greatest((select max(turn) from agents.approvals where owner = p_owner and agent = coalesce(p_agent, p_asked_by) and status = 'pending'),
        (select min(turn) - 1 from agents.approvals where owner = p_owner and status = 'pending'), 0)) returning id
$$;

create or replace function agents.fn_start_team_run(p_owner text, p_name text, p_plan jsonb default '{}', p_needed int default 1, p_valid interval default interval '1 day') returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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

alter table agents.policy_evaluations drop constraint policy_evaluations_type_check,
  add constraint policy_evaluations_type_check check (type in ('assignment', 'profile', 'schema', 'budget', 'kill_switch', 'pause', 'approval', 'waiting'));

-- What is told to whoever listens: every login may, of whatever team. So it is not the id, which would let them ask
-- about it, but a hash. Who knows the id knows the hash.
create function agents.fn_notify(p_channel text, p_id uuid) returns void
language sql set search_path = pg_catalog, pg_temp as $$ select pg_notify(p_channel, left(encode(sha256(convert_to(p_id::text, 'UTF8')), 'hex'), 32)) $$;

create or replace function agents.fn_tool_invocations_notify() returns trigger
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

create or replace function agents.fn_team_runs_notify() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_notify('tool_invocation', new.id);
  return null;
end $$;

revoke execute on function agents.fn_most_waiting(text, text), agents.fn_require_room(text, text), agents.fn_limit_waiting(text, int, text), agents.fn_notify(text, uuid),
  agents.fn_ask(text, text, uuid, text, int, int, text, timestamptz, text, uuid, text, text, text) from public;
grant execute on function agents.fn_limit_waiting(text, int, text) to cordon_admin;

reset role;

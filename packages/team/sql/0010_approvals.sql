-- Approvals: questions to people about a call or a run, their answers, and the limit of pending questions.
set role cordon_owner;

create table agents.approvals (
  id uuid primary key default agents.fn_new_id(),
  owner text not null,
  subject_kind text not null check (subject_kind in ('tool_invocation', 'team_run')),
  subject_id uuid not null,
  -- The answer is for these arguments and this version of the tool.
  arguments_hash text not null,
  tool_version int,
  asked_by text not null,
  asked_with uuid,
  needed int not null check (needed >= 1),
  why text not null,
  status text not null default 'pending'
    check (status in ('pending', 'approved', 'rejected', 'expired', 'cancelled')),
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  -- Copies from the call for lists and policies. The calls are in many partitions, so a list must not read them.
  agent text not null,
  tool_key text,
  egress_class text,
  turn bigint not null default 0
);
create index approvals_of on agents.approvals (subject_id, created_at);
create index approvals_turns on agents.approvals (owner, turn, id) where status = 'pending';
create index approvals_of_agent on agents.approvals (owner, agent, turn) where status = 'pending';

create table agents.approval_votes (
  approval_id uuid not null references agents.approvals on delete cascade,
  voter text not null,
  verdict text not null check (verdict in ('approve', 'reject')),
  reason text,
  -- The token of the voter. Label and creator are copied, because readers of votes may not see tokens.
  token_id uuid references agents.tokens,
  token_label text,
  token_made_by text,
  at timestamptz not null default clock_timestamp(),
  primary key (approval_id, voter),
  check ((token_id is null) = (token_made_by is null))
);
create trigger trg_approval_votes_unchanged before update or delete on agents.approval_votes
  for each row execute function agents.fn_refuse_change();

-- Who asked sees the question, and so does the agent of the call.
alter table agents.approvals enable row level security;
create policy approvals_of_own on agents.approvals as restrictive for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
create policy approvals_seen on agents.approvals for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])),
      asked_by, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent'])))
    or agents.fn_sees(owner, '{}', agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));
grant select on agents.approvals to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

alter table agents.approval_votes enable row level security;
create policy votes_of_own on agents.approval_votes for select
  using (exists (select from agents.approvals a where a.id = approval_id));
grant select on agents.approval_votes to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

-- The most questions of one agent that may be pending, so that no agent fills the list. Agent '' is the default of the
-- team. A request locks the row of its agent, so that simultaneous requests all count. Only functions can lock it.
create table agents.waiting_limits (
  owner text not null,
  agent text not null,
  most int check (most between 0 and 100000),
  primary key (owner, agent)
);
alter table agents.waiting_limits enable row level security;
create policy waiting_limits_of_own on agents.waiting_limits for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
grant select on agents.waiting_limits to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

-- The limit of an agent: its own, or the default of its team, or 100.
create function agents.fn_most_waiting(p_owner text, p_agent text) returns int
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((select most from agents.waiting_limits where owner = p_owner and agent = p_agent), (select most from agents.waiting_limits where owner = p_owner and agent = ''), 100);
end $$;

-- Fails if the agent has too many pending questions.
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
      hint = format('wait for an answer, or take a call back: cordon team calls cancel ID; an admin changes the limit: cordon team limit --agent %s --waiting N', p_agent);
  end if;
end $$;

-- Null removes the limit: then the default of the team applies, or 100.
create function agents.fn_limit_waiting(p_owner text, p_most int, p_agent text default '') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  if p_most not between 0 and 100000 then raise exception 'a limit of waiting questions is a number from 0 to 100000' using errcode = '22023'; end if;
  insert into agents.waiting_limits as w (owner, agent, most) values (p_owner, p_agent, p_most) on conflict (owner, agent) do update set most = excluded.most;
  perform agents.fn_audit(p_owner, 'limit:' || p_agent, 'limit.set', jsonb_build_object('agent', nullif(p_agent, ''), 'waiting', p_most));
end $$;

-- Lists show questions by turn. The turn of a new question is one more than the last pending turn of its agent, and at
-- least the first pending turn of the team. So agents alternate, a question keeps its place, and pages do not overlap.
create function agents.fn_ask(
  p_owner text, p_kind text, p_subject uuid, p_hash text, p_version int, p_needed int, p_why text,
  p_expires timestamptz, p_asked_by text default agents.fn_actor(), p_asked_with uuid default agents.fn_token(),
  p_agent text default null, p_tool text default null, p_class text default null
) returns uuid
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into agents.approvals (owner, subject_kind, subject_id, arguments_hash, tool_version, asked_by, asked_with, needed, why, expires_at, agent, tool_key, egress_class, turn)
    values (p_owner, p_kind, p_subject, p_hash, p_version, p_asked_by, p_asked_with, p_needed, p_why, p_expires, coalesce(p_agent, p_asked_by), p_tool, p_class,
      1 + greatest((select max(turn) from agents.approvals where owner = p_owner and agent = coalesce(p_agent, p_asked_by) and status = 'pending'),
        (select min(turn) - 1 from agents.approvals where owner = p_owner and status = 'pending'), 0)) returning id
$$;

grant execute on function agents.fn_limit_waiting(text, int, text) to cordon_admin;

reset role;

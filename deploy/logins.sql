-- Who may do what, by login: see packages/team/docs/store.md. Run by the owner of the database, after it was prepared.
do $$
begin
  if not exists (select from pg_roles where rolname = 'runner') then create role runner login password 'runner' in role cordon_runner; end if;
  -- It speaks for others, as who they are, and is nobody itself: a member of no team.
  if not exists (select from pg_roles where rolname = 'cordon_serve') then
    create role cordon_serve login password 'serve' in role cordon_gateway, cordon_admin, cordon_operator, cordon_agent, cordon_runner;
  end if;
  -- Who has a login needs no server; who has a token needs no login, as ada, who is an admin.
  if not exists (select from pg_roles where rolname = 'agent-1') then create role "agent-1" login password 'agent' in role cordon_agent; end if;
  if not exists (select from pg_roles where rolname = 'anna') then create role anna login password 'anna' in role cordon_operator; end if;
end $$;
begin;
set local role service_role;
select agents.fn_add_member('team', 'postgres', 'admin') where not exists (select from agents.members where owner = 'team');
commit;
begin;
set local role cordon_admin;
select agents.fn_add_member('team', 'runner', 'runner'), agents.fn_add_member('team', 'agent-1', 'agent'), agents.fn_add_member('team', 'anna', 'operator'), agents.fn_add_member('team', 'ada', 'admin');
commit;
-- An agent runs the calls that it asks for to run itself (execution 'here', the default of createCordon). It needs to be no runner
-- for that, and is none: a runner may take any call of the team.

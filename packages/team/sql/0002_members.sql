-- Teams and their members: who the caller is, which teams it belongs to, and which rows it sees.
create schema agents authorization cordon_owner;
revoke all on schema agents from public;
grant usage on schema agents
  to cordon_admin, cordon_operator, cordon_agent, cordon_runner, cordon_gateway, service_role;

set role cordon_owner;

-- Functions are of two kinds. A function with statements sets its own search_path. A function that returns one
-- expression is parsed when it is created, so the caller's path cannot change it, and the planner can inline it. Every
-- call asks for memberships: these functions are in PL/pgSQL, which plans them once in a session.
--
-- Every function that a role may call and that writes sets a lock_timeout. A transaction that never ends holds calls,
-- budgets and chains of its team. Others get an error (55P03) and can try again.
--
-- A function with a backslash in its text sets standard_conforming_strings, because a session could give it a meaning.

-- The caller. A login is itself. Only a gateway (the process between people and the database) acts for others, and
-- names them.
create function agents.fn_actor() returns text
language sql stable
return case when pg_has_role(session_user, 'cordon_gateway', 'member')
    then coalesce(nullif(current_setting('cordon.actor', true), ''), session_user::text)
    else session_user::text end;

-- The token of the caller, if it has one. Only a gateway can name it.
create function agents.fn_token() returns uuid
language sql stable
return case when pg_has_role(session_user, 'cordon_gateway', 'member')
    then nullif(current_setting('cordon.token', true), '')::uuid end;

-- The role of the caller. Inside a SECURITY DEFINER function, current_user is the owner of the function.
create function agents.fn_caller_role() returns name
language sql stable
return case when current_setting('role') = 'none' then session_user else current_setting('role')::name end;

-- The owner of a row is a team. Roles decide which functions a caller may use, and memberships decide on which rows.
create table agents.members (
  owner text not null check (owner <> ''),
  actor text not null check (actor <> ''),
  kind text not null check (kind in ('admin', 'operator', 'agent', 'runner')),
  added_by text not null default agents.fn_actor(),
  added_at timestamptz not null default now(),
  primary key (owner, actor, kind)
);
create index members_of_actor on agents.members (actor);

-- The team to which the caller restricts itself, or ''. Several teams can know the same name, and a token of one team
-- gives no rights in the others. The setting can only narrow, so everybody may set it.
create function agents.fn_team() returns text
language sql stable
return coalesce(current_setting('cordon.team', true), '');

create function agents.fn_is_about(p_owner text) returns boolean
language sql stable
return coalesce(nullif(agents.fn_team(), ''), p_owner) = p_owner;

create function agents.fn_is_member(p_owner text, p_kinds text[]) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return agents.fn_is_about(p_owner) and exists (select from agents.members where owner = p_owner and actor = agents.fn_actor() and kind = any (p_kinds));
end $$;

-- The teams in which the caller has one of these kinds. Policies call it once for a statement, not for each row.
create function agents.fn_teams_as(p_kinds text[]) returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((select array_agg(distinct owner) from agents.members where actor = agents.fn_actor() and kind = any (p_kinds) and agents.fn_is_about(owner)), '{}');
end $$;

-- The condition of the policies for each row. PostgreSQL checks the cheapest condition first, so this one has nearly no
-- cost. Otherwise the conditions of a query would run on rows of other teams, and the rows read would tell which of
-- them match. For the same reason it is in PL/pgSQL, which the planner does not inline.
create function agents.fn_sees(
  p_owner text, p_teams text[], p_whose text default null, p_actor text default null, p_own_teams text[] default '{}'
) returns boolean
language plpgsql immutable parallel safe cost 0.001 set search_path = pg_catalog, pg_temp as $$
begin
  return p_owner = any (p_teams) or coalesce(p_whose = p_actor and p_owner = any (p_own_teams), false);
end $$;

create function agents.fn_require_member(p_owner text, p_kinds text[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if not agents.fn_is_member(p_owner, p_kinds) then
    raise exception '% is no % of %', agents.fn_actor(), array_to_string(p_kinds, ' or '), p_owner using errcode = '42501',
      hint = format('cordon team show says who is what; an admin of %s changes it: cordon team add %s %s', p_owner, agents.fn_actor(), array_to_string(p_kinds, '|'));
  end if;
  perform agents.fn_require_token(p_owner);
end $$;

-- Only the service role adds the first member of a team. After that the team's admins add members.
create function agents.fn_add_member(p_owner text, p_actor text, p_kind text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  if exists (select from agents.members where owner = p_owner) then
    perform agents.fn_require_member(p_owner, array['admin']);
  elsif not pg_has_role(agents.fn_caller_role(), 'service_role', 'member') then
    raise exception 'only the service role begins a new owner' using errcode = '42501',
      hint = 'begin it with the login of the owner of the database (cordon team create NAME --database URL), or let the login of the server do so: grant service_role to cordon_serve';
  end if;
  insert into agents.members (owner, actor, kind) values (p_owner, p_actor, p_kind) on conflict do nothing;
end $$;

create function agents.fn_remove_member(p_owner text, p_actor text, p_kind text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  -- Removals wait for each other. Otherwise two admins could remove each other at the same time.
  perform from agents.members where owner = p_owner and kind = 'admin' order by actor for update;
  perform agents.fn_require_member(p_owner, array['admin']);
  delete from agents.members where owner = p_owner and actor = p_actor and kind = p_kind;
end $$;

-- The audit log records who joins and leaves. Leaving a team for good revokes the member's tokens, so they stay invalid
-- if the member joins again. A team always keeps an admin.
create function agents.fn_members_changed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    perform agents.fn_audit(new.owner, 'member:' || new.actor, 'member.added', jsonb_build_object('kind', new.kind));
    return null;
  end if;
  if old.kind = 'admin' and not exists (select from agents.members where owner = old.owner and kind = 'admin') then
    raise exception '% is the last admin of %', old.actor, old.owner using errcode = '22023', hint = 'add another one first';
  end if;
  if not exists (select from agents.members where owner = old.owner and actor = old.actor) then
    update agents.tokens set revoked_at = now() where owner = old.owner and actor = old.actor and revoked_at is null;
  end if;
  perform agents.fn_audit(old.owner, 'member:' || old.actor, 'member.removed', jsonb_build_object('kind', old.kind));
  return null;
end $$;
create trigger trg_members_changed after insert or delete on agents.members
  for each row execute function agents.fn_members_changed();

alter table agents.members enable row level security;
create policy members_of_own on agents.members for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
grant select on agents.members to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

grant execute on function agents.fn_actor(), agents.fn_token(), agents.fn_caller_role(), agents.fn_team(),
  agents.fn_is_about(text), agents.fn_is_member(text, text[]), agents.fn_teams_as(text[]),
  agents.fn_sees(text, text[], text, text, text[])
  to cordon_admin, cordon_operator, cordon_agent, cordon_runner, cordon_gateway, service_role;
grant execute on function agents.fn_add_member(text, text, text) to cordon_admin, service_role;
grant execute on function agents.fn_remove_member(text, text, text) to cordon_admin;

reset role;

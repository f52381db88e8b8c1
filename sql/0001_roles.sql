-- Roles. What a login may do is decided by which of these it is a member of; nobody logs in as one of them.
-- Roles belong to the whole server, so they may be there already, made for another database.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['cordon_owner', 'cordon_admin', 'cordon_operator', 'cordon_agent', 'cordon_runner', 'cordon_gateway', 'service_role'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I nologin', wanted);
    end if;
  end loop;
exception
  when insufficient_privilege then
    raise exception 'this login may not create roles' using errcode = '42501',
      hint = 'let an administrator run sql/0001_roles.sql once, or grant CREATEROLE to this login';
end $$;

-- Everything belongs to one role, so that functions that run with its rights have exactly these.
do $$
begin
  -- Since PostgreSQL 16 who creates a role may give it to others, and not yet act as it.
  if current_setting('server_version_num')::int >= 160000 then
    if not pg_has_role(current_user, 'cordon_owner', 'set') then execute format('grant cordon_owner to %I with set true, inherit true', current_user); end if;
  elsif not pg_has_role(current_user, 'cordon_owner', 'member') then
    execute format('grant cordon_owner to %I', current_user);
  end if;
end $$;

create schema agents authorization cordon_owner;
revoke all on schema agents from public;
grant usage on schema agents to cordon_admin, cordon_operator, cordon_agent, cordon_runner, cordon_gateway, service_role;

set role cordon_owner;

-- Functions are of two kinds. Those with a body of statements have a search_path of their own; those that return one
-- expression mean what they meant when they were made, whatever the caller's path is, and become a part of the statement
-- that uses them. What is asked with every call and is neither is in PL/pgSQL, which plans it once in a session.

-- Whom the caller is. A login is itself. Only a gateway (the process that other people reach the database through)
-- speaks for others, and says for whom.
create function agents.fn_actor() returns text
language sql stable
return case when pg_has_role(session_user, 'cordon_gateway', 'member')
    then coalesce(nullif(current_setting('cordon.actor', true), ''), session_user::text)
    else session_user::text end;

-- By which token who is spoken for was known (0010), where it was by one; said by a gateway, and believed of nobody else.
create function agents.fn_token() returns uuid
language sql stable
return case when pg_has_role(session_user, 'cordon_gateway', 'member') then nullif(current_setting('cordon.token', true), '')::uuid end;

-- The role whose rights the caller of a SECURITY DEFINER function had; inside one, current_user is its owner.
create function agents.fn_caller_role() returns name
language sql stable
return case when current_setting('role') = 'none' then session_user else current_setting('role')::name end;

-- Owners are teams. Who may do what is said twice: by the role, for the functions; by membership, for whose rows.
create table agents.members (
  owner text not null check (owner <> ''),
  actor text not null check (actor <> ''),
  kind text not null check (kind in ('admin', 'operator', 'agent', 'runner')),
  added_by text not null default agents.fn_actor(),
  added_at timestamptz not null default now(),
  primary key (owner, actor, kind)
);
create index members_of_actor on agents.members (actor);

-- Whether the caller speaks about this owner at all, or only about another one. A name can be known to several teams, and whoever speaks in it for
-- one of them (a token of that team) has nothing to say in the others. The setting can only narrow, so anybody may make it.
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

-- The teams in which the caller is one of these. The rules about rows ask it once, and not with every row.
create function agents.fn_teams_as(p_kinds text[]) returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((select array_agg(distinct owner) from agents.members where actor = agents.fn_actor() and kind = any (p_kinds) and agents.fn_is_about(owner)), '{}');
end $$;

-- What the rules about rows ask of each, before anything that a query asks: of its conditions PostgreSQL takes first what
-- costs least, so this is said to cost nearly nothing. Were it asked after them, how much was read would tell which rows
-- of others they are true for. So it is a function that is not opened up.
create function agents.fn_sees(p_owner text, p_teams text[], p_whose text default null, p_actor text default null, p_own_teams text[] default '{}') returns boolean
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

-- The first member of an owner makes the rest; that one is added by who runs the database.
create function agents.fn_add_member(p_owner text, p_actor text, p_kind text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- One after the other, or two admins could take each other out.
  perform from agents.members where owner = p_owner and kind = 'admin' order by actor for update;
  perform agents.fn_require_member(p_owner, array['admin']);
  delete from agents.members where owner = p_owner and actor = p_actor and kind = p_kind;
end $$;

alter table agents.members enable row level security;
create policy members_of_own on agents.members for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
grant select on agents.members to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

revoke execute on all functions in schema agents from public;
grant execute on function agents.fn_actor(), agents.fn_token(), agents.fn_caller_role(), agents.fn_team(), agents.fn_is_about(text), agents.fn_is_member(text, text[]), agents.fn_teams_as(text[]), agents.fn_sees(text, text[], text, text, text[])
  to cordon_admin, cordon_operator, cordon_agent, cordon_runner, cordon_gateway, service_role;
grant execute on function agents.fn_add_member(text, text, text) to cordon_admin, service_role;
grant execute on function agents.fn_remove_member(text, text, text) to cordon_admin;

reset role;

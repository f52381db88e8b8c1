-- Which agent may call which tool: profiles, assignments and stops.
set role cordon_owner;

-- A profile allows allow_tools ∩ tool_groups − deny_tools. A null list does not restrict. An empty list allows nothing.
create table agents.tool_profiles (
  id uuid primary key default gen_random_uuid(),
  owner text not null,
  name text not null,
  allow_tools text[],
  deny_tools text[] not null default '{}',
  tool_groups text[],
  -- For single tools: {KEY: {"requires_approval": true}}.
  overrides jsonb not null default '{}',
  requires_approval boolean not null default false,
  is_default boolean not null default false,
  unique (owner, name)
);
create unique index tool_profiles_one_default on agents.tool_profiles (owner) where is_default;

create table agents.tool_assignments (
  owner text not null,
  agent text not null,
  tool_id uuid not null references agents.tools_registry,
  profile_id uuid references agents.tool_profiles,
  allowed boolean not null default true,
  assigned_by text not null default agents.fn_actor(),
  assigned_at timestamptz not null default now(),
  primary key (agent, tool_id)
);

-- Stops. `kill` refuses calls. `pause` accepts calls but starts none.
create table agents.controls (
  owner text not null,
  scope text not null check (scope in ('all', 'agent', 'tool', 'profile')),
  subject text not null default '',
  state text not null check (state in ('kill', 'pause')),
  reason text not null check (reason <> ''),
  author text not null default agents.fn_actor(),
  since timestamptz not null default now(),
  primary key (owner, scope, subject)
);

create function agents.fn_set_profile(
  p_owner text, p_name text, p_allow_tools text[] default null, p_deny_tools text[] default '{}',
  p_tool_groups text[] default null, p_overrides jsonb default '{}', p_requires_approval boolean default false,
  p_is_default boolean default false
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  result uuid;
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  perform agents.fn_require_bounded('the profile', jsonb_build_array(p_name, p_allow_tools, p_deny_tools, p_tool_groups, p_overrides));
  -- An entry that no function reads would look like a rule, and have no effect.
  if jsonb_typeof(p_overrides) is distinct from 'object'
     or exists (select from jsonb_each(p_overrides) as o (key, said) where jsonb_typeof(said) <> 'object' or said not in ('{}', '{"requires_approval":true}', '{"requires_approval":false}')) then
    raise exception 'an override of a profile says only whether calls of a tool need approval' using errcode = '22023', hint = 'write {"TOOL": {"requires_approval": true}}';
  end if;
  insert into agents.tool_profiles as t (owner, name, allow_tools, deny_tools, tool_groups, overrides, requires_approval, is_default)
    values (p_owner, p_name, p_allow_tools, p_deny_tools, p_tool_groups, p_overrides, p_requires_approval, p_is_default)
    on conflict (owner, name) do update set allow_tools = excluded.allow_tools, deny_tools = excluded.deny_tools, tool_groups = excluded.tool_groups,
      overrides = excluded.overrides, requires_approval = excluded.requires_approval, is_default = excluded.is_default
    returning t.id into result;
  perform agents.fn_audit(p_owner, 'profile:' || p_name, 'profile.set', jsonb_build_object('allow_tools', p_allow_tools, 'deny_tools', p_deny_tools, 'tool_groups', p_tool_groups, 'overrides', p_overrides, 'requires_approval', p_requires_approval));
  return result;
end $$;

create function agents.fn_assign_tool(
  p_agent text, p_tool uuid, p_profile text default null, p_allowed boolean default true
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  tool_owner text;
  profile uuid;
begin
  select owner into tool_owner from agents.tools_registry where id = p_tool;
  if tool_owner is null then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool_owner, array['admin']);
  if p_profile is not null then
    select id into profile from agents.tool_profiles where owner = tool_owner and name = p_profile;
    if profile is null then raise exception 'there is no profile % of %', p_profile, tool_owner using errcode = 'P0002'; end if;
  end if;
  insert into agents.tool_assignments (owner, agent, tool_id, profile_id, allowed) values (tool_owner, p_agent, p_tool, profile, p_allowed)
    on conflict (agent, tool_id) do update set profile_id = excluded.profile_id, allowed = excluded.allowed, assigned_by = agents.fn_actor(), assigned_at = now();
  perform agents.fn_audit(tool_owner, 'tool:' || p_tool, 'tool.assigned', jsonb_build_object('agent', p_agent, 'profile', p_profile, 'allowed', p_allowed));
end $$;

create function agents.fn_revoke_tool(p_agent text, p_tool uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  tool_owner text;
begin
  select owner into tool_owner from agents.tool_assignments where agent = p_agent and tool_id = p_tool for update;
  if tool_owner is null then raise exception '% has no assignment of %', p_agent, p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool_owner, array['admin']);
  delete from agents.tool_assignments where agent = p_agent and tool_id = p_tool;
  perform agents.fn_audit(tool_owner, 'tool:' || p_tool, 'tool.revoked', jsonb_build_object('agent', p_agent));
end $$;

create function agents.fn_stop(
  p_owner text, p_state text, p_reason text, p_scope text default 'all', p_subject text default ''
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  perform agents.fn_require_member(p_owner, array['admin', 'operator']);
  perform agents.fn_require_short('the reason', p_reason);
  insert into agents.controls (owner, scope, subject, state, reason) values (p_owner, p_scope, p_subject, p_state, p_reason)
    on conflict (owner, scope, subject) do update set state = excluded.state, reason = excluded.reason, author = agents.fn_actor(), since = now();
  perform agents.fn_audit(p_owner, 'control:' || p_scope || ':' || p_subject, 'control.' || p_state, jsonb_build_object('reason', p_reason));
end $$;

create function agents.fn_resume(p_owner text, p_scope text default 'all', p_subject text default '') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  perform agents.fn_require_member(p_owner, array['admin', 'operator']);
  delete from agents.controls where owner = p_owner and scope = p_scope and subject = p_subject;
  perform agents.fn_audit(p_owner, 'control:' || p_scope || ':' || p_subject, 'control.resumed', '{}');
end $$;

-- The text of a stop that applies to this agent, tool or profile, or null.
create function agents.fn_find_stop(
  p_owner text, p_states text[], p_agent text, p_tool text, p_profile text
) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select format('%s: %s (%s)', scope || case when subject = '' then '' else ' ' || subject end, reason, author) from agents.controls
    where owner = p_owner and state = any (p_states)
      and (scope = 'all' or (scope = 'agent' and subject = p_agent) or (scope = 'tool' and subject = p_tool) or (scope = 'profile' and subject = p_profile))
    limit 1);
end $$;

create function agents.fn_stop_hint() returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select 'cordon team show says what is stopped; an operator or admin lets it go on: cordon team resume (with the --agent, --tool or --profile that is stopped)'::text
$$;

alter table agents.tool_profiles enable row level security;
create policy tool_profiles_of_own on agents.tool_profiles for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
grant select on agents.tool_profiles to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;
alter table agents.tool_assignments enable row level security;
create policy tool_assignments_of_own on agents.tool_assignments for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
grant select on agents.tool_assignments to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;
alter table agents.controls enable row level security;
create policy controls_of_own on agents.controls for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
grant select on agents.controls to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

grant execute on function agents.fn_assign_tool(text, uuid, text, boolean), agents.fn_revoke_tool(text, uuid),
  agents.fn_set_profile(text, text, text[], text[], text[], jsonb, boolean, boolean)
  to cordon_admin;
grant execute on function agents.fn_stop(text, text, text, text, text), agents.fn_resume(text, text, text)
  to cordon_admin, cordon_operator;

reset role;

-- Standing approvals: answers given beforehand, for one version of a tool, arguments of one form, a time and a number
-- of uses.
set role cordon_owner;

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

create function agents.fn_approve_in_advance(
  p_tool uuid, p_arguments jsonb, p_uses int, p_valid interval, p_reason text, p_agent text default null
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  tool agents.tools_registry;
  problem text;
  result uuid;
begin
  select * into tool from agents.tools_registry where id = p_tool;
  if not found then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool.owner, array['operator']);
  perform agents.fn_require_bounded('the form of the arguments', p_arguments), agents.fn_require_short('the reason', p_reason);
  problem := agents.fn_schema_problem(p_arguments);
  if problem is not null then raise exception 'the form of the arguments cannot be enforced: %', problem using errcode = '22023'; end if;
  if p_arguments -> 'type' is distinct from '"object"' or p_arguments -> 'additionalProperties' is distinct from 'false' or jsonb_array_length(coalesce(p_arguments -> 'required', '[]')) = 0 then
    raise exception 'a standing approval says which arguments it is for' using errcode = '22023',
      hint = 'write type: object, the properties with their values, all that matter in required, and additionalProperties: false';
  end if;
  if p_uses < 1 or p_valid <= interval '0' or p_valid > interval '1 year' then raise exception 'a standing approval is for a number of uses, and up to a year' using errcode = '22023'; end if;
  perform agents.fn_deciding_token(tool.owner, null, array[p_agent]);
  if tool.approvals_needed > 1 then raise exception '% needs % people for each call', tool.key, tool.approvals_needed using errcode = '42501'; end if;
  insert into agents.standing_approvals (owner, tool_id, tool_version, agent, arguments, uses_left, expires_at, reason)
    values (tool.owner, tool.id, tool.version, p_agent, p_arguments, p_uses, now() + p_valid, p_reason) returning id into result;
  perform agents.fn_audit(tool.owner, 'standing:' || result, 'standing.given', jsonb_build_object('tool', tool.key, 'version', tool.version, 'arguments', p_arguments, 'uses', p_uses, 'agent', p_agent, 'reason', p_reason)
    || jsonb_strip_nulls(jsonb_build_object('token', agents.fn_token())));
  return result;
end $$;

create function agents.fn_revoke_standing_approval(p_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  given_owner text;
begin
  select owner into given_owner from agents.standing_approvals where id = p_id for update;
  if given_owner is null then raise exception 'there is no standing approval %', p_id using errcode = 'P0002'; end if;
  perform agents.fn_require_member(given_owner, array['operator', 'admin']);
  update agents.standing_approvals set revoked_at = coalesce(revoked_at, now()) where id = p_id;
  perform agents.fn_audit(given_owner, 'standing:' || p_id, 'standing.revoked', jsonb_strip_nulls(jsonb_build_object('token', agents.fn_token())));
end $$;

-- Whether a standing approval is still valid, for any caller.
create function agents.fn_standing_counts(p_given agents.standing_approvals) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return p_given.revoked_at is null and p_given.uses_left > 0 and p_given.expires_at > statement_timestamp()
    and exists (select from agents.tools_registry t where t.id = p_given.tool_id and t.version = p_given.tool_version)
    and exists (select from agents.members m where m.owner = p_given.owner and m.actor = p_given.author and m.kind = 'operator')
    -- A revoked token may have been stolen, so its standing approvals do not count.
    and not exists (select from agents.tokens t where t.id = p_given.given_with and t.revoked_at is not null);
end $$;

-- The valid standing approvals of a team, for its members. An agent gets only its own.
create function agents.fn_standing_approvals(p_owner text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select s.id from agents.standing_approvals s where s.owner = p_owner and agents.fn_standing_counts(s)
    and (agents.fn_is_member(p_owner, array['admin', 'operator', 'runner']) or (s.agent = agents.fn_actor() and agents.fn_is_member(p_owner, array['agent'])))
$$;

-- Uses the standing approval that expires first and fits the call. Null if there is none.
create function agents.fn_use_standing_approval(p_tool agents.tools_registry, p_agent text, p_input jsonb) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  given agents.standing_approvals;
begin
  for given in
    select * from agents.standing_approvals s
      where s.tool_id = p_tool.id and s.revoked_at is null and s.uses_left > 0 and agents.fn_standing_counts(s)
        and (s.agent is null or s.agent = p_agent) and s.author <> p_agent and s.author <> agents.fn_actor()
        -- The caller must not have used or created the token of the author.
        and not coalesce(s.given_with = agents.fn_token(), false)
        and not exists (select from agents.tokens t where t.id = s.given_with and t.created_by in (p_agent, agents.fn_actor()))
      order by s.expires_at for update
  loop
    if agents.fn_input_problem(p_input, given.arguments) is null then
      update agents.standing_approvals set uses_left = uses_left - 1 where id = given.id;
      return given.id;
    end if;
  end loop;
  return null;
end $$;

alter table agents.standing_approvals enable row level security;
create policy standing_seen on agents.standing_approvals for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])),
    agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));
grant select on agents.standing_approvals to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

grant execute on function agents.fn_approve_in_advance(uuid, jsonb, int, interval, text, text) to cordon_operator;
grant execute on function agents.fn_standing_approvals(text)
  to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;
grant execute on function agents.fn_revoke_standing_approval(uuid) to cordon_operator, cordon_admin;

reset role;

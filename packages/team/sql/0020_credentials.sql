-- Credentials of tools, sealed with a key that only hosts with runners have. The database cannot open them, so nobody
-- gets a credential from the database alone.
set role cordon_owner;

create table agents.credentials (
  owner text not null,
  ref text not null check (ref ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  sealed text not null check (length(sealed) between 1 and 100000),
  -- The key that opens it: the beginning of its hash.
  key_id text not null check (key_id ~ '^[0-9a-f]{16}$'),
  stored_by text not null default agents.fn_actor(),
  stored_at timestamptz not null default now(),
  primary key (owner, ref)
);

create function agents.fn_store_credential(p_owner text, p_ref text, p_sealed text, p_key_id text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  insert into agents.credentials (owner, ref, sealed, key_id) values (p_owner, p_ref, p_sealed, p_key_id)
    on conflict (owner, ref) do update set sealed = excluded.sealed, key_id = excluded.key_id, stored_by = excluded.stored_by, stored_at = now();
  perform agents.fn_audit(p_owner, 'credential:' || p_ref, 'credential.stored', jsonb_build_object('key', p_key_id));
end $$;

create function agents.fn_remove_credential(p_owner text, p_ref text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  delete from agents.credentials where owner = p_owner and ref = p_ref;
  if not found then raise exception 'there is no credential % of %', p_ref, p_owner using errcode = 'P0002'; end if;
  perform agents.fn_audit(p_owner, 'credential:' || p_ref, 'credential.removed', '{}');
end $$;

-- For the service, and for a runner while it runs a call of a tool that names the credential.
create function agents.fn_resolve_credential(p_owner text, p_ref text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  result text;
  call uuid;
begin
  if not pg_has_role(agents.fn_caller_role(), 'service_role', 'member') then
    perform agents.fn_require_member(p_owner, array['runner']);
    select i.id into call from agents.tool_invocations i join agents.runners r on r.id = i.runner_id
      join agents.tools_registry t on t.id = i.tool_id and t.version = i.tool_version
      where i.status = 'running' and i.owner = p_owner and r.actor = agents.fn_actor() and r.team = agents.fn_team() and t.credential_ref = p_ref limit 1;
    if call is null then raise exception '% runs no call that needs the credential % of %', agents.fn_actor(), p_ref, p_owner using errcode = '42501'; end if;
  end if;
  select sealed into result from agents.credentials where owner = p_owner and ref = p_ref;
  if not found then raise exception 'there is no credential % of %', p_ref, p_owner using errcode = 'P0002', hint = 'an admin stores it: cordon team credentials put'; end if;
  perform agents.fn_audit(p_owner, 'credential:' || p_ref, 'credential.resolved', jsonb_strip_nulls(jsonb_build_object('invocation', call)));
  return result;
end $$;

alter table agents.credentials enable row level security;
create policy credentials_of_own on agents.credentials for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator']))));
-- Without the sealed value, which only fn_resolve_credential returns.
grant select (owner, ref, key_id, stored_by, stored_at) on agents.credentials
  to cordon_admin, cordon_operator, service_role;

grant execute on function agents.fn_store_credential(text, text, text, text),
  agents.fn_remove_credential(text, text)
  to cordon_admin;
grant execute on function agents.fn_resolve_credential(text, text) to cordon_runner, service_role;

reset role;

-- Roles. A login may do what the roles allow that it is a member of. Nobody logs in as one of these roles.
-- Roles belong to the whole server, so another database may have created them already.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['cordon_owner', 'cordon_admin', 'cordon_operator', 'cordon_agent', 'cordon_runner',
      'cordon_gateway', 'service_role'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I nologin', wanted);
    end if;
  end loop;
exception
  when insufficient_privilege then
    raise exception 'this login may not create roles' using errcode = '42501',
      hint = 'let an administrator run sql/0001_roles.sql once, or grant CREATEROLE to this login';
end $$;

-- cordon_owner owns everything, so functions that run with its rights have exactly these rights.
do $$
begin
  -- Since PostgreSQL 16 the creator of a role may grant it to others, but cannot yet act as it.
  if current_setting('server_version_num')::int >= 160000 then
    if not pg_has_role(current_user, 'cordon_owner', 'set') then
      execute format('grant cordon_owner to %I with set true, inherit true', current_user);
    end if;
  elsif not pg_has_role(current_user, 'cordon_owner', 'member') then
    execute format('grant cordon_owner to %I', current_user);
  end if;
end $$;

-- Tokens: a program shows one to a gateway, which then acts for the member. The database stores only the hash. The
-- secret has 256 random bits, so it cannot be guessed.
set role cordon_owner;

create table agents.tokens (
  id uuid primary key default agents.fn_new_id(),
  owner text not null,
  actor text not null,
  hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
  label text not null default '',
  created_by text not null default agents.fn_actor(),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index tokens_of on agents.tokens (owner, actor);

-- Fails unless the caller's token is still valid. Every function that checks membership calls it, because the token may
-- have been revoked or have expired since the gateway checked it.
create function agents.fn_require_token(p_owner text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  if agents.fn_token() is null then return; end if;
  if not exists (select from agents.tokens t where t.id = agents.fn_token() and t.owner = p_owner and t.actor = agents.fn_actor() and t.revoked_at is null and t.expires_at > clock_timestamp()) then
    raise exception 'the token of % was revoked, has expired, or is not of the team %', agents.fn_actor(), p_owner using errcode = '42501', hint = format('an admin makes another: cordon team tokens create %s', agents.fn_actor());
  end if;
end $$;

-- The token of a person who decides, locked until the decision is committed. Null without a token. An admin creates
-- tokens for others, and must not use one of these to decide a request of their own.
create function agents.fn_deciding_token(p_owner text, p_asked_with uuid, p_askers text[]) returns agents.tokens
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  token agents.tokens;
begin
  if agents.fn_token() is null then return null; end if;
  select * into token from agents.tokens t where t.id = agents.fn_token() for share;
  perform agents.fn_require_token(p_owner);
  if token.id = p_asked_with then raise exception 'it was asked for by the same token, and is not decided by it' using errcode = '42501', hint = 'another operator decides it'; end if;
  if token.created_by = any (p_askers) then
    raise exception '% made the token by which % speaks, and asked for it; it takes a token that another admin made', token.created_by, agents.fn_actor() using errcode = '42501';
  end if;
  return token;
end $$;

create function agents.fn_create_token(
  p_owner text, p_actor text, p_hash text, p_label text default '', p_valid interval default interval '90 days'
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  result uuid;
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  if not exists (select from agents.members where owner = p_owner and actor = p_actor) then
    raise exception '% is no member of %', p_actor, p_owner using errcode = 'P0002';
  end if;
  perform agents.fn_require_short('the label', p_label);
  if p_valid <= interval '0' or p_valid > interval '1 year' then raise exception 'a token is valid for up to a year' using errcode = '22023'; end if;
  insert into agents.tokens (owner, actor, hash, label, expires_at) values (p_owner, p_actor, p_hash, p_label, now() + p_valid) returning id into result;
  perform agents.fn_audit(p_owner, 'token:' || result, 'token.created', jsonb_build_object('actor', p_actor, 'label', p_label, 'valid', p_valid::text));
  return result;
end $$;

-- An admin or the member itself may revoke a token, so whoever notices a leak first can do it.
create function agents.fn_revoke_token(p_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  token agents.tokens;
begin
  select * into token from agents.tokens where id = p_id for update;
  if not found then raise exception 'there is no token %', p_id using errcode = 'P0002'; end if;
  if token.actor <> agents.fn_actor() or not agents.fn_is_about(token.owner) then perform agents.fn_require_member(token.owner, array['admin']); end if;
  update agents.tokens set revoked_at = coalesce(revoked_at, now()) where id = p_id;
  perform agents.fn_audit(token.owner, 'token:' || p_id, 'token.revoked', jsonb_build_object('actor', token.actor));
end $$;

-- The member of a token with its current kinds. No row if the token or the membership is not valid.
create function agents.fn_authenticate(p_hash text) returns table (id uuid, owner text, actor text, kinds text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  token agents.tokens;
begin
  select t.* into token from agents.tokens t where t.hash = p_hash and t.revoked_at is null and t.expires_at > statement_timestamp();
  if not found then return; end if;
  -- Only every ten minutes, so that authentication rarely writes.
  if token.last_used_at is null or token.last_used_at < now() - interval '10 minutes' then
    update agents.tokens t set last_used_at = now() where t.id = token.id;
  end if;
  return query select token.id, token.owner, token.actor, array_agg(m.kind order by m.kind) from agents.members m
    where m.owner = token.owner and m.actor = token.actor having count(*) > 0;
end $$;

create function agents.fn_count_tokens() returns int
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select count(*)::int from agents.tokens where revoked_at is null and expires_at > statement_timestamp()
$$;

alter table agents.tokens enable row level security;
create policy tokens_of_team on agents.tokens for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin']))));
create policy tokens_of_self on agents.tokens for select
  using (actor = agents.fn_actor() and agents.fn_is_about(owner));
-- Without the hash, which only fn_authenticate needs.
grant select (id, owner, actor, label, created_by, created_at, expires_at, last_used_at, revoked_at) on agents.tokens
  to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

grant execute on function agents.fn_create_token(text, text, text, text, interval) to cordon_admin;
grant execute on function agents.fn_revoke_token(uuid) to cordon_admin, cordon_operator, cordon_agent, cordon_runner;
grant execute on function agents.fn_authenticate(text), agents.fn_count_tokens(), agents.fn_require_token(text)
  to cordon_gateway;

reset role;

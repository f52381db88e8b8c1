-- The audit log. Each entry has the hash of the entry before it in its chain, so removed, added and changed entries are
-- found. A writer waits until everybody who wrote to its chain before has committed, so a team has several chains. All
-- entries about one subject are in the same chain. No chain is shared by teams: no team waits for another one, and the
-- log of a team is complete by itself.
set role cordon_owner;

-- The last entry of each chain.
create table agents.audit_chains (
  owner text not null,
  chain smallint not null check (chain between 0 and 63),
  sequence bigint not null default 0,
  hash text not null default '',
  primary key (owner, chain)
-- Each entry updates its chain: the new version of the row fits into the same page.
) with (fillfactor = 20);

create table agents.audit_events (
  at timestamptz not null,
  chain smallint not null,
  sequence bigint not null,
  owner text not null,
  subject text not null,
  type text not null,
  actor text not null,
  -- The hashed text. It is not JSON, so that verifying does not depend on how a program writes JSON.
  line text not null,
  previous_hash text not null,
  hash text not null,
  primary key (owner, chain, sequence, at)
) partition by range (at);

create table agents.audit_events_other partition of agents.audit_events default;
create index audit_events_subject on agents.audit_events (subject, at);

-- The number and hash of the last dropped entry of a chain, after retention has dropped its partition.
create table agents.audit_checkpoints (
  owner text not null,
  chain smallint not null,
  sequence bigint not null,
  hash text not null,
  dropped_with text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (owner, chain, sequence),
  foreign key (owner, chain) references agents.audit_chains
);

-- The entry before the first remaining entry of each chain.
create view agents.audit_beginnings as
  select c.owner, c.chain, coalesce(k.sequence, 0) as sequence, coalesce(k.hash, '') as hash from agents.audit_chains c
    left join lateral (select * from agents.audit_checkpoints k
      where k.owner = c.owner and k.chain = c.chain order by k.sequence desc limit 1) k on true;

create function agents.fn_entry_hash(p_previous text, p_line text) returns text
language sql stable parallel safe
return encode(sha256(convert_to(p_previous || E'\n' || p_line, 'UTF8')), 'hex');

create function agents.fn_written_time(p_moment timestamptz) returns text
language sql stable parallel safe
return to_char(p_moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

create function agents.fn_chain_of(p_subject text) returns smallint
language sql immutable parallel safe
return abs(hashtextextended(p_subject, 0) % 64)::smallint;

-- Appends entries about one subject, in this order. A transaction with entries about several subjects writes them in the
-- order of their teams and chains. In another order two transactions could wait for each other.
create function agents.fn_audit_all(p_owner text, p_subject text, p_types text[], p_details jsonb[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  place smallint := agents.fn_chain_of(p_subject);
  author text := agents.fn_actor();
  head agents.audit_chains;
  entry_line text;
  entry_hash text;
  moment timestamptz;
begin
  -- Every change comes through here. In another isolation level a transaction sees the rows of its beginning, and would
  -- decide by members, stops and budgets that are gone.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'transactions that change something here are read committed' using errcode = '22023', hint = 'begin them without another isolation level';
  end if;
  -- The table is locked before the chain, as in retention. Without ONLY every partition would be locked.
  lock table only agents.audit_events in row exclusive mode;
  -- NO KEY lets retention refer to the chain while it checks old entries.
  select * into head from agents.audit_chains where owner = p_owner and chain = place for no key update;
  if not found then
    insert into agents.audit_chains (owner, chain) values (p_owner, place) on conflict do nothing;
    select * into strict head from agents.audit_chains where owner = p_owner and chain = place for no key update;
  end if;
  for at in 1 .. cardinality(p_types) loop
    -- The time is taken after the lock, so that times within a chain have the order of its numbers.
    moment := clock_timestamp();
    head.sequence := head.sequence + 1;
    entry_line := jsonb_build_object('chain', place, 'sequence', head.sequence, 'at', agents.fn_written_time(moment),
      'owner', p_owner, 'subject', p_subject, 'type', p_types[at], 'actor', author, 'details', p_details[at])::text;
    entry_hash := agents.fn_entry_hash(head.hash, entry_line);
    insert into agents.audit_events (at, chain, sequence, owner, subject, type, actor, line, previous_hash, hash)
      values (moment, place, head.sequence, p_owner, p_subject, p_types[at], author, entry_line, head.hash, entry_hash);
    head.hash := entry_hash;
  end loop;
  update agents.audit_chains set sequence = head.sequence, hash = head.hash where owner = p_owner and chain = place;
end $$;

create function agents.fn_audit(p_owner text, p_subject text, p_type text, p_details jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_audit_all(p_owner, p_subject, array[p_type], array[p_details]);
end $$;

-- Nobody changes an entry, not even the owner of the table by mistake. Old entries go with their partition.
create function agents.fn_refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception '% of % is not allowed', tg_op, tg_table_name using errcode = '42501';
end $$;

create trigger trg_audit_events_unchanged before update or delete on agents.audit_events
  for each row execute function agents.fn_refuse_change();
create trigger trg_audit_checkpoints_unchanged before update or delete on agents.audit_checkpoints
  for each row execute function agents.fn_refuse_change();
create trigger trg_audit_events_kept before truncate on agents.audit_events
  execute function agents.fn_refuse_change();
create trigger trg_audit_events_kept before truncate on agents.audit_events_other
  execute function agents.fn_refuse_change();
create trigger trg_audit_checkpoints_kept before truncate on agents.audit_checkpoints
  execute function agents.fn_refuse_change();

-- The line as JSON, or null if it is not a JSON object. fn_audit did not write such a line.
create function agents.fn_read_line(p_line text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case when jsonb_typeof(p_line::jsonb) = 'object' then p_line::jsonb end;
exception when others then return null;
end $$;

-- The problems of the entries of a table: of the whole log, or of a partition that retention drops. For the named
-- teams, or for all.
create function agents.fn_entry_problems(p_table regclass, p_owners text[] default null) returns table (
  owner text, chain smallint, sequence bigint, problem text
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query execute format($query$
    select e.owner, e.chain, e.sequence, p.problem
    from (
      select e.*, agents.fn_read_line(e.line) as says, coalesce(lag(e.hash) over chain_order, b.hash) as expected_hash, coalesce(lag(e.sequence) over chain_order, b.sequence) as before_it
      from %s e left join agents.audit_beginnings b on b.owner = e.owner and b.chain = e.chain
      where $1 is null or e.owner = any ($1) window chain_order as (partition by e.owner, e.chain order by e.sequence)
    ) e
    cross join lateral (values
      (e.hash <> agents.fn_entry_hash(e.previous_hash, e.line), 'its content does not fit its hash'),
      (jsonb_build_object('sequence', e.sequence, 'chain', e.chain, 'at', agents.fn_written_time(e.at), 'type', e.type, 'subject', e.subject, 'actor', e.actor, 'owner', e.owner)
        is distinct from e.says - 'details', 'its columns are not what its line says'),
      (e.sequence is distinct from e.before_it + 1 or e.previous_hash is distinct from e.expected_hash, 'entries before it are missing')
    ) as p (is_wrong, problem)
    where p.is_wrong
  $query$, p_table) using p_owners;
end $$;

-- All problems of the audit log. No row means that the log is intact. The service checks all teams, others their own.
create function agents.fn_verify_audit() returns table (owner text, chain smallint, sequence bigint, problem text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  -- An empty answer would look like an intact log.
  if not pg_has_role(agents.fn_caller_role(), 'service_role', 'member')
     and not exists (select from agents.members m where m.actor = agents.fn_actor() and m.kind in ('admin', 'operator') and agents.fn_is_about(m.owner)) then
    raise exception '% is no admin or operator of any team', agents.fn_actor() using errcode = '42501', hint = 'ask in the name of one who is (--as NAME), or with their token';
  end if;
  return query
  with looked_at as (
    select t.owner from (select c.owner from agents.audit_chains c union select m.owner from agents.members m) t
      where pg_has_role(agents.fn_caller_role(), 'service_role', 'member') or agents.fn_is_member(t.owner, array['admin', 'operator'])
  ), problems as (
    select e.* from agents.fn_entry_problems('agents.audit_events', (select coalesce(array_agg(l.owner), '{}') from looked_at l)) e
    union all
    select c.owner, c.chain, c.sequence, 'the last entries are missing' from agents.audit_chains c join looked_at l on l.owner = c.owner
      join agents.audit_beginnings b on b.owner = c.owner and b.chain = c.chain
      left join agents.audit_events e on e.owner = c.owner and e.chain = c.chain and e.sequence = c.sequence
      where (c.sequence > b.sequence and e.hash is distinct from c.hash) or c.sequence < b.sequence or (c.sequence = b.sequence and c.hash <> b.hash)
    union all
    -- Adding the first member of a team writes an entry, so every team has a chain.
    select l.owner, 0::smallint, 0::bigint, 'the whole record of this team is missing' from looked_at l where not exists (select from agents.audit_chains c where c.owner = l.owner)
  )
  select p.* from problems p order by 1, 2, 3;
end $$;

alter table agents.audit_events enable row level security;
create policy audit_of_own on agents.audit_events for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator']))));
grant select on agents.audit_events to cordon_admin, cordon_operator, service_role;
alter table agents.audit_checkpoints enable row level security;
create policy checkpoints_of_own on agents.audit_checkpoints for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator']))));
grant select on agents.audit_checkpoints to cordon_admin, cordon_operator, service_role;

grant execute on function agents.fn_verify_audit() to cordon_admin, cordon_operator, service_role;

reset role;

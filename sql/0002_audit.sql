-- The record. Every entry carries the hash of the one before it in its chain, so that nothing can be taken
-- out, put in or changed without being seen. A team has several chains, because whoever writes to one waits for
-- everybody who wrote to it before them to commit; all entries about one thing are in the same one. No chain is of two
-- teams: nobody waits for another team, and what a team has is whole by itself.
set role cordon_owner;

create table agents.audit_chains (
  owner text not null,
  chain smallint not null check (chain between 0 and 63),
  sequence bigint not null default 0,
  hash text not null default '',
  primary key (owner, chain)
-- Written with every entry: the new state fits into the page of the old one.
) with (fillfactor = 20);

create table agents.audit_events (
  at timestamptz not null,
  chain smallint not null,
  sequence bigint not null,
  owner text not null,
  subject text not null,
  type text not null,
  actor text not null,
  -- What the hash is over, as it was: a text, so that verifying needs nobody's way of writing JSON.
  line text not null,
  previous_hash text not null,
  hash text not null,
  primary key (owner, chain, sequence, at)
) partition by range (at);

create table agents.audit_events_other partition of agents.audit_events default;
create index audit_events_subject on agents.audit_events (subject, at);

-- Where a chain begins since old entries were dropped (0011): number and hash of the last one that is gone.
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

-- What the first entry that is there has to follow.
create view agents.audit_beginnings as
  select c.owner, c.chain, coalesce(k.sequence, 0) as sequence, coalesce(k.hash, '') as hash from agents.audit_chains c
    left join lateral (select * from agents.audit_checkpoints k where k.owner = c.owner and k.chain = c.chain order by k.sequence desc limit 1) k on true;

create function agents.fn_entry_hash(p_previous text, p_line text) returns text
language sql stable parallel safe
return encode(sha256(convert_to(p_previous || E'\n' || p_line, 'UTF8')), 'hex');

create function agents.fn_written_time(p_moment timestamptz) returns text
language sql stable parallel safe
return to_char(p_moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

create function agents.fn_chain_of(p_subject text) returns smallint
language sql immutable parallel safe
return abs(hashtextextended(p_subject, 0) % 64)::smallint;

-- Whoever writes about several things in one transaction does so in the order of their teams and chains, as everybody
-- else does: two that take the same chains the other way round would wait for each other. Who waits for one that does
-- not end gives up (0014).
create function agents.fn_audit(p_owner text, p_subject text, p_type text, p_details jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  place smallint := agents.fn_chain_of(p_subject);
  before agents.audit_chains;
  entry_line text;
  entry_hash text;
  moment timestamptz;
begin
  -- Everything that changes something is written down here. A transaction that sees only what was there when it began
  -- would decide by members, stops and budgets that are not there any more.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'transactions that change something here are read committed' using errcode = '22023', hint = 'begin them without another isolation level';
  end if;
  -- Before the chain, as who drops a partition does it.
  lock table agents.audit_events in row exclusive mode;
  -- Not against who only refers to the chain, as retention does while it looks through what is old.
  select * into before from agents.audit_chains where owner = p_owner and chain = place for no key update;
  if not found then
    insert into agents.audit_chains (owner, chain) values (p_owner, place) on conflict do nothing;
    select * into strict before from agents.audit_chains where owner = p_owner and chain = place for no key update;
  end if;
  -- Now that it is our turn: times within a chain go the way its numbers go.
  moment := clock_timestamp();
  entry_line := jsonb_build_object('chain', place, 'sequence', before.sequence + 1, 'at', agents.fn_written_time(moment),
    'owner', p_owner, 'subject', p_subject, 'type', p_type, 'actor', agents.fn_actor(), 'details', p_details)::text;
  entry_hash := agents.fn_entry_hash(before.hash, entry_line);
  insert into agents.audit_events (at, chain, sequence, owner, subject, type, actor, line, previous_hash, hash)
    values (moment, place, before.sequence + 1, p_owner, p_subject, p_type, agents.fn_actor(), entry_line, before.hash, entry_hash);
  update agents.audit_chains set sequence = before.sequence + 1, hash = entry_hash where owner = p_owner and chain = place;
end $$;

-- Nobody changes an entry, also not by mistake as the owner of the table. Old ones go with their partition.
create function agents.fn_refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception '% of % is not allowed', tg_op, tg_table_name using errcode = '42501';
end $$;

create trigger trg_audit_events_unchanged before update or delete on agents.audit_events for each row execute function agents.fn_refuse_change();
create trigger trg_audit_checkpoints_unchanged before update or delete on agents.audit_checkpoints for each row execute function agents.fn_refuse_change();
create trigger trg_audit_events_kept before truncate on agents.audit_events execute function agents.fn_refuse_change();
create trigger trg_audit_events_kept before truncate on agents.audit_events_other execute function agents.fn_refuse_change();
create trigger trg_audit_checkpoints_kept before truncate on agents.audit_checkpoints execute function agents.fn_refuse_change();

-- Null where it is none: whoever wrote it, it is not what was written here.
create function agents.fn_read_line(p_line text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case when jsonb_typeof(p_line::jsonb) = 'object' then p_line::jsonb end;
exception when others then return null;
end $$;

-- What is wrong with entries of a table (all of the record, or a part that is to be dropped), of these teams or of all.
create function agents.fn_entry_problems(p_table regclass, p_owners text[] default null) returns table (owner text, chain smallint, sequence bigint, problem text)
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

-- What is wrong with the record, if anything: nothing is a good answer. The service looks at all teams, others at theirs.
create function agents.fn_verify_audit() returns table (owner text, chain smallint, sequence bigint, problem text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  -- To have found nothing where one may not look would be no good answer.
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
    -- Of every team somebody was let in.
    select l.owner, 0::smallint, 0::bigint, 'the whole record of this team is missing' from looked_at l where not exists (select from agents.audit_chains c where c.owner = l.owner)
  )
  select p.* from problems p order by 1, 2, 3;
end $$;

alter table agents.audit_events enable row level security;
alter table agents.audit_checkpoints enable row level security;
create policy checkpoints_of_own on agents.audit_checkpoints for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator']))));
grant select on agents.audit_checkpoints to cordon_admin, cordon_operator, service_role;
create policy audit_of_own on agents.audit_events for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator']))));
grant select on agents.audit_events to cordon_admin, cordon_operator, service_role;

revoke execute on all functions in schema agents from public;
grant execute on function agents.fn_verify_audit() to cordon_admin, cordon_operator, service_role;

reset role;

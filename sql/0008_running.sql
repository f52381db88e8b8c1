-- Runners: who takes approved calls, and who has become silent.
set role cordon_owner;

-- A name is one among those of who speaks: nobody takes the name of somebody else's runner, or is taken for it.
create table agents.runners (
  id uuid primary key default gen_random_uuid(),
  -- Where it speaks by the token of a team, that team: the same actor in another team is somebody else.
  team text not null default agents.fn_team(),
  actor text not null default agents.fn_actor(),
  name text not null,
  labels text[] not null default '{}',
  holds text[] not null default '{}',
  facts jsonb not null default '{}',
  is_draining boolean not null default false,
  -- For how long it may be silent. Said by itself: it ends what it runs when it was silent for so long, and nobody
  -- else can say that it is lost.
  lease interval not null default interval '1 minute',
  first_seen timestamptz not null default clock_timestamp(),
  last_seen timestamptz not null default clock_timestamp(),
  unique (actor, name, team)
);
alter table agents.runners enable row level security;
-- Of the teams that one is a member of, whose members are seen (0001).
create policy runners_seen on agents.runners for select
  using (exists (select from agents.members m where m.actor = runners.actor and m.kind = 'runner' and runners.team in ('', m.owner)) or pg_has_role(current_user, 'service_role', 'member'));
grant select on agents.runners to cordon_admin, cordon_operator, cordon_runner, service_role;

-- Only the clock of the database counts, so the clocks of hosts may be wrong.
create function agents.fn_heartbeat(p_runner text, p_labels text[] default '{}', p_holds text[] default '{}', p_facts jsonb default '{}', p_is_draining boolean default false, p_lease interval default interval '1 minute') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from agents.members where actor = agents.fn_actor() and kind = 'runner' and agents.fn_is_about(owner)) then raise exception '% runs for no team', agents.fn_actor() using errcode = '42501', hint = format('an admin of the team says so: cordon team add %s runner', agents.fn_actor()); end if;
  if p_lease not between interval '1 second' and interval '1 hour' then raise exception 'a runner may be silent for a second to an hour' using errcode = '22023'; end if;
  perform agents.fn_require_bounded('what a runner says of its host', p_facts, 65536);
  if pg_column_size(p_facts) > 65536 or pg_column_size(p_labels) + pg_column_size(p_holds) > 65536 then raise exception 'a runner says less of itself' using errcode = '22023'; end if;
  insert into agents.runners (name, labels, holds, facts, is_draining, lease) values (p_runner, p_labels, p_holds, p_facts, p_is_draining, p_lease)
    on conflict (actor, name, team) do update set labels = excluded.labels, holds = excluded.holds, facts = excluded.facts, is_draining = excluded.is_draining, lease = excluded.lease, last_seen = clock_timestamp();
end $$;

create function agents.fn_claim_tool_invocations(p_runner text, p_limit int default 1, p_id uuid default null) returns setof agents.tool_invocations
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  taker agents.runners;
  claimed agents.tool_invocations;
begin
  select * into taker from agents.runners where actor = agents.fn_actor() and name = p_runner and team = agents.fn_team();
  if not found then raise exception 'the runner % has not been heard of', p_runner using errcode = 'P0002', hint = 'call fn_heartbeat first'; end if;
  if taker.is_draining then return; end if;
  for claimed in
    select * from (select i.* from agents.tool_invocations i
      join agents.tools_registry t on t.id = i.tool_id and t.version = i.tool_version and t.status <> 'disabled'
      left join agents.tool_profiles p on p.id = i.profile_id
      where i.status = 'approved' and i.expires_at > statement_timestamp() and not i.cancel_requested
        and i.created_at between coalesce(agents.fn_time_of(p_id), '-infinity') and coalesce(agents.fn_time_of(p_id), 'infinity') and (i.id = p_id or (p_id is null and i.dispatch = 'runners'))
        and t.needs_labels <@ taker.labels and t.needs_boundary <@ taker.holds and agents.fn_may_still_call(i)
        and exists (select from agents.members m where m.owner = i.owner and m.actor = agents.fn_actor() and m.kind = 'runner') and agents.fn_is_about(i.owner)
        and agents.fn_find_stop(i.owner, array['kill', 'pause'], i.agent, i.tool_key, p.name) is null
      order by i.created_at limit p_limit for update of i skip locked) picked order by picked.owner, agents.fn_chain_of('invocation:' || picked.id)
  loop
    update agents.tool_invocations set status = 'running', runner = p_runner, runner_id = taker.id, fence = claimed.fence + 1,
        dispatched_at = coalesce(dispatched_at, clock_timestamp()), started_at = clock_timestamp()
      where id = claimed.id and created_at = claimed.created_at returning * into claimed;
    perform agents.fn_audit(claimed.owner, 'invocation:' || claimed.id, 'invocation.started', jsonb_build_object('runner', p_runner, 'fence', claimed.fence, 'input_hash', claimed.input_hash));
    return next claimed;
  end loop;
end $$;

-- Null where it was not measured.
create function agents.fn_used(p_usage jsonb, p_what text) returns numeric
language sql immutable
return case when jsonb_typeof(p_usage -> p_what) = 'number' then (p_usage ->> p_what)::numeric end;

-- What the cell measured, at the prices of the tool. Null where something has a price and was not measured: that it
-- cost nothing is not known.
create function agents.fn_cost_of(p_prices jsonb, p_usage jsonb) returns numeric
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case when bool_and(amount is not null) then least(round(sum(price * greatest(amount, 0)), 9), 1e12) end
    from (select value::numeric as price, case key
        when 'call' then 1
        when 'cpu_second' then agents.fn_used(p_usage, 'cpu_ms') / 1000
        when 'wall_second' then agents.fn_used(p_usage, 'wall_ms') / 1000
        when 'megabyte' then (agents.fn_used(p_usage, 'bytes_sent') + agents.fn_used(p_usage, 'bytes_received')) / 1000000 end as amount
      from jsonb_each_text(p_prices)) priced
$$;

-- Far from what it was held against: by more than a half, and by more than 0.01.
create function agents.fn_deviates(p_cost numeric, p_from numeric) returns boolean
language sql immutable
return abs(p_cost - p_from) > greatest(p_from * 0.5, 0.01);

-- Whatever happens: the tool has run, and what came of it is not thrown away for being another form.
create function agents.fn_output_problem(p_output jsonb, p_schema jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  -- What takes longer than a statement may take would keep the call from ending.
  if octet_length(p_output::text) > 1048576 then return 'output is too large to be held against its schema'; end if;
  return left(case when p_output is null then 'output is missing' else agents.fn_input_problem(p_output, p_schema, 'output') end, 1000);
exception when others then return 'output could not be held against its schema: ' || left(sqlerrm, 900);
end $$;

create function agents.fn_complete_tool_invocation(
  p_id uuid, p_status text, p_output jsonb default null, p_error text default null, p_cost numeric default null, p_fence bigint default null, p_usage jsonb default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  invocation agents.tool_invocations := agents.fn_lock_invocation(p_id);
  cost numeric;
  deviates boolean;
  promised jsonb;
  problem text;
begin
  perform agents.fn_require_amount('a cost', p_cost);
  if p_status not in ('completed', 'failed') then raise exception 'a call ends completed or failed, not %', p_status using errcode = '22023'; end if;
  select t.schema_output into promised from agents.runners r left join agents.tools_registry t on t.id = invocation.tool_id and t.version = invocation.tool_version
    where r.id = invocation.runner_id and r.actor = agents.fn_actor() and r.team = agents.fn_team();
  if not found then
    raise exception 'invocation % is not run by %', p_id, agents.fn_actor() using errcode = '42501';
  end if;
  if invocation.status <> 'running' then raise exception 'invocation % is %', p_id, invocation.status using errcode = '22023'; end if;
  if p_fence is distinct from invocation.fence then
    raise exception 'invocation % was given to another in the meantime', p_id using errcode = '22023', detail = 'fence';
  end if;
  perform agents.fn_require_bounded('the output', p_output, 16777216), agents.fn_require_bounded('the usage', p_usage), agents.fn_require_short('the error', p_error, 1048576);
  if promised is not null and p_status = 'completed' then problem := agents.fn_output_problem(p_output, promised); end if;
  if invocation.prices is not null then cost := agents.fn_cost_of(invocation.prices, p_usage); end if;
  -- From the estimate; what the runner says from what is measured; and a call cannot have run for longer than since it was claimed.
  -- Null where there is nothing to hold it against.
  deviates := greatest(agents.fn_deviates(greatest(cost, p_cost), invocation.cost_estimate), agents.fn_deviates(p_cost, cost),
    nullif(agents.fn_used(p_usage, 'wall_ms') > extract(epoch from clock_timestamp() - invocation.started_at) * 1000 + 1000, false));
  update agents.tool_invocations set status = p_status, output = p_output, output_problem = problem, error = p_error, cost_measured = cost, cost_reported = p_cost, cost_deviates = deviates, usage = p_usage,
      completed_at = clock_timestamp()
    where id = p_id and created_at = invocation.created_at;
  perform agents.fn_audit(invocation.owner, 'invocation:' || p_id, 'invocation.' || p_status, jsonb_strip_nulls(jsonb_build_object('runner', invocation.runner, 'fence', invocation.fence,
    'cost', cost, 'cost_reported', p_cost, 'cost_deviates', nullif(deviates, false), 'output_hash', case when p_output is not null then agents.fn_hash(p_output) end, 'output_problem', problem, 'error', p_error)));
end $$;

-- Calls of runners that are silent. What only reads is run again; what writes may have happened, and a person decides.
create function agents.fn_recover_invocation(p_lost agents.tool_invocations) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  until timestamptz := greatest(p_lost.expires_at, now() + interval '1 day');
begin
  if p_lost.egress_class in ('none', 'read_only') then
    update agents.tool_invocations set status = 'approved', runner = null, runner_id = null where id = p_lost.id and created_at = p_lost.created_at;
    if p_lost.cancel_requested then
      update agents.tool_invocations set status = 'cancelled', completed_at = clock_timestamp() where id = p_lost.id and created_at = p_lost.created_at;
    end if;
    perform agents.fn_audit(p_lost.owner, 'invocation:' || p_lost.id, 'invocation.requeued', jsonb_build_object('runner', p_lost.runner, 'fence', p_lost.fence));
  else
    update agents.tool_invocations set status = 'pending', approval_status = 'pending', runner = null, runner_id = null, cancel_requested = false, expires_at = until where id = p_lost.id and created_at = p_lost.created_at;
    -- Another question, with a hash of its own: a yes to the first one, said again, is no yes to this.
    perform agents.fn_ask(p_lost.owner, 'tool_invocation', p_lost.id, agents.fn_hash(jsonb_build_object('input_hash', p_lost.input_hash, 'may_have_happened', p_lost.fence)), p_lost.tool_version,
      coalesce((select t.approvals_needed from agents.tools_registry t where t.id = p_lost.tool_id), 1),
      format('its runner %s became silent while it ran: it may have happened already', p_lost.runner), until, p_lost.invoked_by, p_lost.invoked_with);
    perform agents.fn_audit(p_lost.owner, 'invocation:' || p_lost.id, 'invocation.doubtful', jsonb_build_object('runner', p_lost.runner, 'fence', p_lost.fence));
  end if;
end $$;

-- For whom the caller looks after what is left: a gateway and the service for all, others for their teams. What they touch
-- is theirs until they commit.
create function agents.fn_keeps_up_all() returns boolean
language sql stable
return pg_has_role(session_user, 'cordon_gateway', 'member') or pg_has_role(agents.fn_caller_role(), 'service_role', 'member');

create function agents.fn_keeps_up(p_owner text) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select agents.fn_keeps_up_all() or agents.fn_is_member(p_owner, array['admin', 'operator', 'runner'])
$$;

-- While the server was down nobody could be heard: after its start each has the same time again. A team in which
-- somebody holds on to a chain waits for the next time, and no other team with it.
create function agents.fn_recover_lost_invocations() returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
  lost agents.tool_invocations;
  busy text[] := '{}';
  recovered int := 0;
begin
  for lost in
    select * from (select i.* from agents.tool_invocations i left join agents.runners r on r.id = i.runner_id
      where i.status = 'running' and agents.fn_keeps_up(i.owner) and greatest(r.last_seen, pg_postmaster_start_time()) < clock_timestamp() - coalesce(r.lease, interval '1 minute') for update of i skip locked) silent order by silent.owner, agents.fn_chain_of('invocation:' || silent.id)
  loop
    continue when lost.owner = any (busy);
    begin
      perform agents.fn_recover_invocation(lost);
      recovered := recovered + 1;
    exception when lock_not_available then busy := busy || lost.owner;
    end;
  end loop;
  return recovered;
end $$;

create function agents.fn_expire_invocations() returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
  late agents.tool_invocations;
  busy text[] := '{}';
  expired int := 0;
begin
  for late in select * from (select * from agents.tool_invocations where status in ('pending', 'approved') and expires_at <= statement_timestamp() and agents.fn_keeps_up(owner)
      and not exists (select from agents.approvals a where a.subject_id = tool_invocations.id and a.status = 'pending' and a.expires_at > statement_timestamp()) for update skip locked) past order by past.owner, agents.fn_chain_of('invocation:' || past.id) loop
    continue when late.owner = any (busy);
    begin
      update agents.tool_invocations set status = 'expired', completed_at = clock_timestamp() where id = late.id and created_at = late.created_at;
      update agents.approvals set status = 'expired', decided_at = clock_timestamp() where subject_id = late.id and status = 'pending';
      perform agents.fn_audit(late.owner, 'invocation:' || late.id, 'invocation.expired', '{}');
      expired := expired + 1;
    exception when lock_not_available then busy := busy || late.owner;
    end;
  end loop;
  return expired;
end $$;

-- False when another has some of it. Where nobody made it in time, what came meanwhile is in the partition for the
-- rest, and moves.
create function agents.fn_make_partition(p_parent text, p_part text, p_from timestamp, p_to timestamp) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  rest text := p_parent || '_other';
  since timestamptz := p_from at time zone 'UTC';
  until timestamptz := p_to at time zone 'UTC';
begin
  if to_regclass('agents.' || p_part) is not null then return true; end if;
  begin
    execute format('create table agents.%I partition of agents.%I for values from (%L) to (%L)', p_part, p_parent, since, until);
  exception
    when invalid_object_definition then return false;
    when check_violation then
      execute format('create table agents.%I (like agents.%I including all)', p_part, p_parent);
      execute format('alter table agents.%I disable trigger user', rest);
      execute format('with moved as (delete from agents.%1$I where %2$I >= %3$L and %2$I < %4$L returning *) insert into agents.%5$I select * from moved',
        rest, agents.fn_partitioned_by(p_parent), since, until, p_part);
      execute format('alter table agents.%I enable trigger user', rest);
      execute format('alter table agents.%I attach partition agents.%I for values from (%L) to (%L)', p_parent, p_part, since, until);
  end;
  if p_parent = 'audit_events' then
    execute format('create trigger trg_audit_events_kept before truncate on agents.%I execute function agents.fn_refuse_change()', p_part);
  end if;
  return true;
end $$;

create function agents.fn_partitioned_by(p_parent text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$ select case p_parent when 'audit_events' then 'at' else 'created_at' end $$;

-- Partitions made ahead, by month or, where there are millions of calls a day, by day. What is older than the
-- retention goes as a whole (0011). A month of which some days have their own gets the others. Days of a month that has
-- a partition already are made from the next month on, where that is empty still.
create function agents.fn_make_partitions(p_ahead int default 3, p_span text default 'month') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- Without a time zone, which is that of UTC: a day is as long as any other.
  today timestamp := date_trunc('day', now() at time zone 'UTC');
  strays timestamp[];
  span_start timestamp;
  step interval := ('1 ' || p_span)::interval;
  parent text;
begin
  if p_span not in ('day', 'month') or p_ahead not between 0 and 366 then raise exception 'partitions are made by day or month, up to 366 ahead' using errcode = '22023'; end if;
  foreach parent in array array['tool_invocations', 'audit_events'] loop
    execute format('select array_agg(distinct date_trunc(%L, %I at time zone ''UTC'')) from agents.%I', p_span, agents.fn_partitioned_by(parent), parent || '_other') into strays;
    for span_start in select date_trunc(p_span, today) + n * step from generate_series(0, p_ahead) as n union select unnest(strays) order by 1 loop
      continue when agents.fn_make_partition(parent, parent || '_' || to_char(span_start, case p_span when 'day' then 'YYYY_MM_DD' else 'YYYY_MM' end), span_start, span_start + step);
      continue when p_span = 'day' and not agents.fn_drop_empty_month(parent, span_start);
      perform agents.fn_make_days(parent, date_trunc('month', span_start));
    end loop;
  end loop;
end $$;

create function agents.fn_make_days(p_parent text, p_month timestamp) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select agents.fn_make_partition(p_parent, p_parent || '_' || to_char(day, 'YYYY_MM_DD'), day, day + interval '1 day')
    from generate_series(p_month, p_month + interval '1 month' - interval '1 day', interval '1 day') as day
$$;

-- True when days can be made in its place.
create function agents.fn_drop_empty_month(p_parent text, p_moment timestamp) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  part text := p_parent || '_' || to_char(p_moment, 'YYYY_MM');
  is_empty boolean;
begin
  if to_regclass('agents.' || part) is null or date_trunc('month', p_moment) <= now() at time zone 'UTC' then return false; end if;
  execute format('select not exists (select from agents.%I)', part) into is_empty;
  if is_empty then execute format('drop table agents.%I', part); end if;
  return is_empty;
end $$;

-- Whether somebody began to make them by day.
create function agents.fn_has_days_ahead() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select exists (select from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'agents.audit_events'::regclass
    and c.relname ~ '_\d{4}_\d{2}_\d{2}$' and c.relname > 'audit_events_' || to_char(now() at time zone 'UTC', 'YYYY_MM_DD'))
$$;

-- What upkeep does of it, which anybody may do who runs. Everybody waits for it while it waits for others, so not long; and
-- for as long as its caller does not commit. So a login makes only what comes next, and finds that made where a gateway
-- or the service looks after all teams.
create function agents.fn_make_next_partitions() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
begin
  if agents.fn_has_days_ahead() then
    perform agents.fn_make_partitions(case when agents.fn_keeps_up_all() then 14 else 3 end, 'day');
  else
    perform agents.fn_make_partitions(case when agents.fn_keeps_up_all() then 3 else 1 end, 'month');
  end if;
end $$;
select agents.fn_make_partitions();

revoke execute on all functions in schema agents from public;
grant execute on function agents.fn_heartbeat(text, text[], text[], jsonb, boolean, interval), agents.fn_claim_tool_invocations(text, int, uuid),
  agents.fn_complete_tool_invocation(uuid, text, jsonb, text, numeric, bigint, jsonb) to cordon_runner, service_role;
grant execute on function agents.fn_recover_lost_invocations(), agents.fn_expire_invocations(), agents.fn_make_next_partitions() to cordon_runner, cordon_admin, service_role;
grant execute on function agents.fn_make_partitions(int, text) to service_role;

reset role;

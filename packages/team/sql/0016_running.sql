-- Runners claim approved calls, report their output, and complete them.
set role cordon_owner;

-- A name is unique for one actor, so nobody takes the name of another actor's runner.
create table agents.runners (
  id uuid primary key default gen_random_uuid(),
  -- The team of the runner's token, or ''. The same actor in another team is another runner.
  team text not null default agents.fn_team(),
  actor text not null default agents.fn_actor(),
  name text not null,
  labels text[] not null default '{}',
  holds text[] not null default '{}',
  facts jsonb not null default '{}',
  is_draining boolean not null default false,
  -- How long the runner may be silent. It chooses this itself, and kills its calls when it was silent for so long.
  lease interval not null default interval '1 minute',
  first_seen timestamptz not null default clock_timestamp(),
  last_seen timestamptz not null default clock_timestamp(),
  unique (actor, name, team)
);
-- The policy of members applies inside this one, so a caller sees the runners of its own teams.
alter table agents.runners enable row level security;
create policy runners_seen on agents.runners for select
  using (exists (select from agents.members m
      where m.actor = runners.actor and m.kind in ('runner', 'agent') and runners.team in ('', m.owner))
    or pg_has_role(current_user, 'service_role', 'member'));
grant select on agents.runners to cordon_admin, cordon_operator, cordon_runner, service_role;
-- Lists of questions show whether the process that asked still waits, so agents may read when a process was last seen.
-- Labels and facts of its host stay hidden.
grant select (team, actor, lease, first_seen, last_seen) on agents.runners to cordon_agent;

-- Only the clock of the database counts, so clocks of hosts may be wrong. An agent, too, is a runner: it runs its own
-- calls with dispatch 'caller'.
create function agents.fn_heartbeat(
  p_runner text, p_labels text[] default '{}', p_holds text[] default '{}', p_facts jsonb default '{}',
  p_is_draining boolean default false, p_lease interval default interval '1 minute'
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
begin
  if not exists (select from agents.members where actor = agents.fn_actor() and kind in ('runner', 'agent') and agents.fn_is_about(owner)) then raise exception '% runs for no team', agents.fn_actor() using errcode = '42501', hint = format('an admin of the team says so: cordon team add %s runner', agents.fn_actor()); end if;
  if p_lease not between interval '1 second' and interval '1 hour' then raise exception 'a runner may be silent for a second to an hour' using errcode = '22023'; end if;
  perform agents.fn_require_bounded('what a runner says of its host', p_facts, 65536);
  if pg_column_size(p_facts) > 65536 or pg_column_size(p_labels) + pg_column_size(p_holds) > 65536 then raise exception 'labels and facts of a runner have at most 64 KB' using errcode = '22023'; end if;
  insert into agents.runners (name, labels, holds, facts, is_draining, lease) values (p_runner, p_labels, p_holds, p_facts, p_is_draining, p_lease)
    on conflict (actor, name, team) do update set labels = excluded.labels, holds = excluded.holds, facts = excluded.facts, is_draining = excluded.is_draining, lease = excluded.lease, last_seen = clock_timestamp();
end $$;

-- Whether the caller may run the call: as a runner of the team, or as the agent that asked to run it itself.
create function agents.fn_is_taker_of(p_invocation agents.tool_invocations) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return agents.fn_is_member(p_invocation.owner, case when p_invocation.agent = agents.fn_actor() and p_invocation.dispatch = 'caller' then array['runner', 'agent'] else array['runner'] end);
end $$;

-- Whether the runner may claim the call now.
create function agents.fn_is_claimable(p_invocation agents.tool_invocations, p_taker agents.runners) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return p_invocation.expires_at > statement_timestamp() and not p_invocation.cancel_requested and agents.fn_is_taker_of(p_invocation)
    and exists (select from agents.tools_registry t where t.id = p_invocation.tool_id and t.version = p_invocation.tool_version and t.status <> 'disabled'
      and t.needs_labels <@ p_taker.labels and t.needs_boundary <@ p_taker.holds)
    and agents.fn_obstacle(p_invocation) is null
    and agents.fn_find_stop(p_invocation.owner, array['kill', 'pause'], p_invocation.agent, p_invocation.tool_key, (select p.name from agents.tool_profiles p where p.id = p_invocation.profile_id)) is null;
end $$;

-- Claims one call by its id, or the oldest calls that any runner may run. The second form reads all partitions, and is
-- planned once.
create function agents.fn_claim_tool_invocations(
  p_runner text, p_limit int default 1, p_id uuid default null
) returns setof agents.tool_invocations
language plpgsql security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set lock_timeout = '10s' as $$
declare
  taker agents.runners;
  claimed agents.tool_invocations;
  teams text[];
  picked agents.tool_invocations[];
begin
  select * into taker from agents.runners where actor = agents.fn_actor() and name = p_runner and team = agents.fn_team();
  if not found then raise exception 'there is no runner %', p_runner using errcode = 'P0002', hint = 'call fn_heartbeat first'; end if;
  if taker.is_draining then return; end if;
  if p_id is not null then
    execute 'select array_agg(i) from (select i.* from agents.tool_invocations i where i.id = $1 and i.created_at = $2 and i.status = ''approved'' and agents.fn_is_claimable(i, $3) for update skip locked) i'
      into picked using p_id, agents.fn_time_of(p_id), taker;
    if picked is null then
      -- If the call would no longer be allowed, it is rejected, and its caller learns why.
      for claimed in execute 'select i.* from agents.tool_invocations i where i.id = $1 and i.created_at = $2 and i.status = ''approved'' and agents.fn_is_taker_of(i) and agents.fn_obstacle(i) is not null for update skip locked'
          using p_id, agents.fn_time_of(p_id) loop
        perform agents.fn_supersede(claimed, agents.fn_obstacle(claimed));
      end loop;
      return;
    end if;
  else
    teams := agents.fn_teams_as(array['runner']);
    select array_agg(i order by i.owner, agents.fn_chain_of('invocation:' || i.id)) into picked
      from (select i.* from agents.tool_invocations i where i.status = 'approved' and i.dispatch = 'runners' and i.owner = any (teams) and agents.fn_is_claimable(i, taker)
        order by i.created_at limit p_limit for update of i skip locked) i;
  end if;
  foreach claimed in array coalesce(picked, '{}') loop
    execute 'update agents.tool_invocations set status = ''running'', runner = $3, runner_id = $4, fence = fence + 1, dispatched_at = coalesce(dispatched_at, clock_timestamp()), started_at = clock_timestamp()
        where id = $1 and created_at = $2 returning *' into claimed using claimed.id, claimed.created_at, p_runner, taker.id;
    perform agents.fn_audit(claimed.owner, 'invocation:' || claimed.id, 'invocation.started', jsonb_build_object('runner', p_runner, 'fence', claimed.fence, 'input_hash', claimed.input_hash));
    return next claimed;
  end loop;
end $$;

-- The output of running tools, for clients that wait. Only the latest part is kept, for an hour. The result of the call
-- has all of it, so this table need not survive a crash of the server.
create unlogged table agents.invocation_output (
  invocation_id uuid not null,
  fence bigint not null,
  sequence int not null,
  stream text not null check (stream in ('stdout', 'stderr', 'progress')),
  content text not null check (length(content) <= 8192),
  -- The number of characters before these that are not shown.
  skipped bigint not null default 0 check (skipped between 0 and 9007199254740991),
  at timestamptz not null default clock_timestamp(),
  owner text not null,
  agent text not null,
  primary key (invocation_id, fence, sequence)
);
create index invocation_output_at on agents.invocation_output (at);
alter table agents.invocation_output enable row level security;
create policy output_seen on agents.invocation_output for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'runner'])),
    agent, (select agents.fn_actor()), (select agents.fn_teams_as(array['agent']))));
grant select on agents.invocation_output to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

create function agents.fn_append_output(
  p_id uuid, p_fence bigint, p_stream text, p_content text, p_skipped bigint default 0
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  next_sequence int;
  call record;
begin
  execute 'select i.owner, i.agent, i.runner_id from agents.tool_invocations i where i.id = $1 and i.created_at = $2 and i.status = ''running'' and i.fence = $3' into call using p_id, agents.fn_time_of(p_id), p_fence;
  if not exists (select from agents.runners r where r.id = call.runner_id and r.actor = agents.fn_actor() and r.team = agents.fn_team()
      and agents.fn_is_member(call.owner, case when call.agent = agents.fn_actor() then array['runner', 'agent'] else array['runner'] end)) then
    raise exception 'invocation % is not run by % any more', p_id, agents.fn_actor() using errcode = '22023', detail = 'fence';
  end if;
  select coalesce(max(o.sequence), 0) + 1 into next_sequence from agents.invocation_output o where o.invocation_id = p_id and o.fence = p_fence;
  insert into agents.invocation_output (invocation_id, fence, sequence, stream, content, skipped, owner, agent) values (p_id, p_fence, next_sequence, p_stream, p_content, p_skipped, call.owner, call.agent);
  delete from agents.invocation_output o where o.invocation_id = p_id and o.fence = p_fence and o.sequence <= next_sequence - 32;
  perform agents.fn_notify('tool_invocation_output', p_id);
end $$;

-- Null if it was not measured.
create function agents.fn_used(p_usage jsonb, p_what text) returns numeric
language sql immutable
return case when jsonb_typeof(p_usage -> p_what) = 'number' then (p_usage ->> p_what)::numeric end;

-- The measured usage at the prices of the tool. Null if something has a price but was not measured: the cost is
-- unknown.
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

-- Whether two costs differ by more than half, and by more than 0.01.
create function agents.fn_deviates(p_cost numeric, p_from numeric) returns boolean
language sql immutable
return abs(p_cost - p_from) > greatest(p_from * 0.5, 0.01);

-- The problem of an output, or null. It never fails: the tool has run, so its output is stored in any case.
create function agents.fn_output_problem(p_output jsonb, p_schema jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  -- A check beyond the statement timeout would keep the call from ending.
  if octet_length(p_output::text) > 1048576 then return 'output is too large to be held against its schema'; end if;
  return left(case when p_output is null then 'output is missing' else agents.fn_input_problem(p_output, p_schema, 'output') end, 1000);
exception when others then return 'output could not be held against its schema: ' || left(sqlerrm, 900);
end $$;

-- Whether the caller runs the call: by one of its processes, as a member of the team.
create function agents.fn_is_run_by_caller(p_invocation agents.tool_invocations) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select from agents.runners r where r.id = p_invocation.runner_id and r.actor = agents.fn_actor() and r.team = agents.fn_team())
    and (agents.fn_is_member(p_invocation.owner, array['admin', 'operator', 'agent', 'runner']) or pg_has_role(agents.fn_caller_role(), 'service_role', 'member'));
end $$;

-- Judges the end of a call: the problem of its output, its measured cost, and whether the cost deviates.
create function agents.fn_judge_end(
  p_invocation agents.tool_invocations, p_status text, p_output jsonb, p_cost numeric, p_usage jsonb,
  out problem text, out cost numeric, out deviates boolean
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  promised jsonb;
begin
  if p_status = 'completed' then
    select t.schema_output into promised from agents.tools_registry t where t.id = p_invocation.tool_id and t.version = p_invocation.tool_version;
    if promised is not null then problem := agents.fn_output_problem(p_output, promised); end if;
  end if;
  if p_invocation.prices is not null then cost := agents.fn_cost_of(p_invocation.prices, p_usage); end if;
  -- True if the cost deviates from the estimate, or the reported cost from the measured one, or if the reported time is
  -- longer than the time since the claim. Null if there is nothing to compare with.
  deviates := greatest(agents.fn_deviates(greatest(cost, p_cost), p_invocation.cost_estimate), agents.fn_deviates(p_cost, cost),
    nullif(agents.fn_used(p_usage, 'wall_ms') > extract(epoch from clock_timestamp() - p_invocation.started_at) * 1000 + 1000, false));
end $$;

create function agents.fn_complete_tool_invocation(
  p_id uuid, p_status text, p_output jsonb default null, p_error text default null, p_cost numeric default null,
  p_fence bigint default null, p_usage jsonb default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  ended agents.tool_invocations;
begin
  perform agents.fn_require_amount('a cost', p_cost);
  if p_status not in ('completed', 'failed') then raise exception 'a call ends completed or failed, not %', p_status using errcode = '22023'; end if;
  perform agents.fn_require_bounded('the output', p_output, 16777216), agents.fn_require_bounded('the usage', p_usage), agents.fn_require_short('the error', p_error, 1048576);
  execute 'update agents.tool_invocations i set status = $3, output = $4, error = $5, cost_reported = $6, usage = $7, completed_at = clock_timestamp(),
        (output_problem, cost_measured, cost_deviates) = (select e.problem, e.cost, e.deviates from agents.fn_judge_end(i, $3, $4, $6, $7) e)
      where i.id = $1 and i.created_at = $2 and i.status = ''running'' and i.fence = $8 and agents.fn_is_run_by_caller(i) returning i.*'
    into ended using p_id, agents.fn_time_of(p_id), p_status, p_output, p_error, p_cost, p_usage, p_fence;
  if ended.id is null then perform agents.fn_refuse_completion(p_id); end if;
  perform agents.fn_audit(ended.owner, 'invocation:' || p_id, 'invocation.' || p_status, jsonb_strip_nulls(jsonb_build_object('runner', ended.runner, 'fence', ended.fence,
    'cost', ended.cost_measured, 'cost_reported', p_cost, 'cost_deviates', nullif(ended.cost_deviates, false), 'output_hash', case when p_output is not null then agents.fn_hash(p_output) end,
    'output_problem', ended.output_problem, 'error', p_error)));
end $$;

-- Says why a call cannot be completed. To others than its team it does not exist.
create function agents.fn_refuse_completion(p_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  invocation agents.tool_invocations := agents.fn_lock_invocation(p_id);
begin
  if not agents.fn_is_run_by_caller(invocation) then raise exception 'invocation % is not run by %', p_id, agents.fn_actor() using errcode = '42501'; end if;
  if invocation.status <> 'running' then raise exception 'invocation % is %', p_id, invocation.status using errcode = '22023'; end if;
  raise exception 'invocation % was given to another in the meantime', p_id using errcode = '22023', detail = 'fence';
end $$;

grant execute on function agents.fn_heartbeat(text, text[], text[], jsonb, boolean, interval),
  agents.fn_claim_tool_invocations(text, int, uuid), agents.fn_append_output(uuid, bigint, text, text, bigint),
  agents.fn_complete_tool_invocation(uuid, text, jsonb, text, numeric, bigint, jsonb)
  to cordon_runner, service_role, cordon_agent;

reset role;

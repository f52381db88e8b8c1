-- Budgets: the calls and the cost that an agent or a profile may use in a window of time.
set role cordon_owner;

create table agents.budgets (
  id uuid primary key default gen_random_uuid(),
  owner text not null,
  scope text not null check (scope in ('agent', 'profile')),
  subject text not null,
  span interval not null check (span >= interval '1 second'),
  max_calls bigint check (max_calls >= 0),
  max_cost numeric check (max_cost >= 0),
  author text not null default agents.fn_actor()
);
create unique index budgets_of on agents.budgets (owner, scope, subject, span);

-- A counter for each window. Calls at the same moment lock it one after the other, so all of them count.
create table agents.budget_usage (
  budget_id uuid not null references agents.budgets on delete cascade,
  span_start timestamptz not null,
  calls bigint not null default 0,
  -- The cost of ended calls, and the reserved cost of open ones.
  cost numeric not null default 0,
  reserved numeric not null default 0,
  primary key (budget_id, span_start)
);

-- Ended calls, until the next call under the same budget adds them to its counter. So ending a call does not wait for
-- the start of another one.
create table agents.budget_releases (
  budget_id uuid not null,
  span_start timestamptz not null,
  reserved numeric not null,
  cost numeric not null
);
create index budget_releases_of on agents.budget_releases (budget_id, span_start);

create function agents.fn_set_budget(
  p_owner text, p_scope text, p_subject text, p_span interval, p_max_calls bigint default null,
  p_max_cost numeric default null
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  result uuid;
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  perform agents.fn_require_amount('the cost of a budget', p_max_cost);
  -- Windows are counted from one fixed moment, so they all need the same length. Months differ.
  if p_span < interval '1 second' or extract(year from p_span) <> 0 or extract(month from p_span) <> 0 then raise exception 'the span of a budget is in days, hours, minutes or seconds' using errcode = '22023'; end if;
  insert into agents.budgets as b (owner, scope, subject, span, max_calls, max_cost) values (p_owner, p_scope, p_subject, p_span, p_max_calls, p_max_cost)
    on conflict (owner, scope, subject, span) do update set max_calls = excluded.max_calls, max_cost = excluded.max_cost, author = excluded.author returning b.id into result;
  perform agents.fn_audit(p_owner, 'budget:' || result, 'budget.set', jsonb_build_object('scope', p_scope, 'subject', p_subject, 'span', p_span::text, 'max_calls', p_max_calls, 'max_cost', p_max_cost));
  return result;
end $$;

create function agents.fn_remove_budget(p_owner text, p_scope text, p_subject text, p_span interval) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  gone uuid;
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  delete from agents.budgets where owner = p_owner and scope = p_scope and subject = p_subject and span = p_span returning id into gone;
  if gone is null then raise exception '% % has no budget per %', p_scope, p_subject, p_span using errcode = 'P0002'; end if;
  delete from agents.budget_releases where budget_id = gone;
  perform agents.fn_audit(p_owner, 'budget:' || gone, 'budget.removed', jsonb_build_object('scope', p_scope, 'subject', p_subject, 'span', p_span::text));
end $$;

create function agents.fn_budget_hint(p_budget agents.budgets, p_span_start timestamptz) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('it counts anew from %s on; an admin changes it (cordon team budget --%s %s --per %ss --calls N, or --cost N), or takes it away (--off)',
    to_char((p_span_start + p_budget.span) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), p_budget.scope, p_budget.subject, extract(epoch from p_budget.span)::bigint)
$$;

-- Takes one call and its expected cost from every budget that applies, or refuses. The rows stay locked until the end
-- of the transaction. Everybody locks them in the same order. Returns the budgets that limit cost.
create function agents.fn_take_from_budgets(
  p_owner text, p_agent text, p_profile text, p_at timestamptz, p_cost numeric
) returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  budget agents.budgets;
  used agents.budget_usage;
  settled agents.budget_usage;
  taken uuid[] := '{}';
begin
  for budget in
    select * from agents.budgets b where b.owner = p_owner and ((b.scope = 'agent' and b.subject = p_agent) or (b.scope = 'profile' and b.subject = p_profile)) order by b.id
  loop
    insert into agents.budget_usage as u (budget_id, span_start, calls, reserved)
      values (budget.id, date_bin(budget.span, p_at, timestamptz '2000-01-01'), 1, case when budget.max_cost is null then 0 else p_cost end)
      on conflict (budget_id, span_start) do update set calls = u.calls + 1, reserved = u.reserved + excluded.reserved returning * into used;
    if used.calls > budget.max_calls then
      raise exception '% % has used its % calls in %', budget.scope, budget.subject, budget.max_calls, budget.span using errcode = '42501', detail = 'budget', hint = agents.fn_budget_hint(budget, used.span_start);
    end if;
    continue when budget.max_cost is null;
    with ended as (
      delete from agents.budget_releases r where r.budget_id = used.budget_id and r.span_start = used.span_start returning r.reserved, r.cost
    ), total as (select sum(e.reserved) as reserved, sum(e.cost) as cost from ended e having count(*) > 0)
    update agents.budget_usage u set reserved = u.reserved - t.reserved, cost = u.cost + t.cost from total t
      where u.budget_id = used.budget_id and u.span_start = used.span_start returning u.* into settled;
    if found then used := settled; end if;
    if used.cost + used.reserved > budget.max_cost or used.cost + used.reserved - p_cost >= budget.max_cost then
      raise exception '% % has used its budget of % in %, with what is held back for calls that have not ended', budget.scope, budget.subject, budget.max_cost, budget.span using errcode = '42501', detail = 'budget', hint = agents.fn_budget_hint(budget, used.span_start);
    end if;
    taken := taken || budget.id;
  end loop;
  return taken;
end $$;

-- A call that ran counts with its measured or reported cost, or else with its reserved cost. A call that never ran
-- costs nothing. Windows that ended more than a day ago are ignored.
create function agents.fn_tool_invocations_settle() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into agents.budget_releases (budget_id, span_start, reserved, cost)
    select b.id, w.span_start, new.cost_reserved, case when new.status in ('completed', 'failed') or new.fence > 0 then coalesce(greatest(new.cost_measured, new.cost_reported), new.cost_reserved) else 0 end
      from agents.budgets b cross join lateral (select date_bin(b.span, new.created_at, timestamptz '2000-01-01') as span_start) w
      where b.id = any (new.budgets) and w.span_start + b.span > now() - interval '1 day';
  return null;
end $$;
create trigger trg_tool_invocations_settle after update on agents.tool_invocations for each row
  when (new.budgets <> '{}' and new.status <> old.status
    and new.status in ('completed', 'failed', 'rejected', 'expired', 'cancelled'))
  execute function agents.fn_tool_invocations_settle();

-- The budgets of a team with the usage of the current windows. The cost includes reserved cost and ended calls that are
-- not added up yet. Agents see only their own usage.
create function agents.fn_list_budgets(p_owner text) returns table (
  scope text, subject text, span interval, max_calls bigint, max_cost numeric, used_calls bigint, used_cost numeric,
  until timestamptz
)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select b.scope, b.subject, b.span, b.max_calls, b.max_cost, case when s.is_seen then coalesce(u.calls, 0) end,
      case when s.is_seen and b.max_cost is not null then coalesce(u.cost + u.reserved, 0) + coalesce((select sum(r.cost - r.reserved) from agents.budget_releases r where r.budget_id = b.id and r.span_start = w.span_start), 0) end,
      w.span_start + b.span
    from agents.budgets b cross join lateral (select date_bin(b.span, statement_timestamp(), timestamptz '2000-01-01') as span_start) w
      cross join lateral (select agents.fn_is_member(p_owner, array['admin', 'operator']) or (b.scope = 'agent' and b.subject = agents.fn_actor()) as is_seen) s
      left join agents.budget_usage u on u.budget_id = b.id and u.span_start = w.span_start
    where b.owner = p_owner and agents.fn_is_member(p_owner, array['admin', 'operator', 'agent', 'runner'])
    order by b.scope, b.subject, b.span
$$;

alter table agents.budgets enable row level security;
create policy budgets_of_own on agents.budgets for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
grant select on agents.budgets to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

grant execute on function agents.fn_set_budget(text, text, text, interval, bigint, numeric),
  agents.fn_remove_budget(text, text, text, interval)
  to cordon_admin;
grant execute on function agents.fn_list_budgets(text)
  to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

reset role;

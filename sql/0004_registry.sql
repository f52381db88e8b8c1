-- Tools, profiles, assignments, and what stops everything.
set role cordon_owner;

create table agents.tools_registry (
  id uuid primary key default gen_random_uuid(),
  owner text not null check (owner <> ''),
  key text not null check (key ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$'),
  name text not null,
  description text not null default '',
  category text not null default 'general',
  schema_input jsonb not null default '{"type":"object"}',
  -- What comes of a call is held against it (0008): what does not fit is kept, and said.
  schema_output jsonb,
  -- How it is known where it goes, by the credential that it names. Who approves it reads it.
  auth_method text not null check (auth_method in ('none', 'api_key', 'oauth', 'service_account')),
  requires_approval boolean not null default true,
  is_dangerous boolean not null default false,
  status text not null default 'active' check (status in ('active', 'disabled', 'deprecated')),
  -- What nobody said is the strictest.
  egress_class text not null default 'write' check (egress_class in ('none', 'read_only', 'write')),
  endpoint_url text,
  http_method text,
  credential_ref text,
  -- How it is run: its kind, program and policy. A runner takes them from here, not from who calls.
  definition jsonb not null default '{}',
  -- Labels that a runner must have, and mechanisms that its host must hold.
  needs_labels text[] not null default '{}',
  needs_boundary text[] not null default '{}',
  -- Approvals by different people that a call needs.
  approvals_needed int not null default 1 check (approvals_needed between 1 and 20),
  expected_cost numeric check (expected_cost >= 0),
  -- What a call, and what is measured of it, costs: call, cpu_second, wall_second, megabyte (0008). None: its cost is not measured.
  prices jsonb,
  version int not null default 1,
  created_by text not null default agents.fn_actor(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (owner, key)
);

create function agents.fn_require_prices(p_prices jsonb) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  priced text;
begin
  if p_prices is null then return; end if;
  perform agents.fn_require_bounded('the prices', p_prices, 65536);
  if jsonb_typeof(p_prices) <> 'object' then raise exception 'prices are a mapping' using errcode = '22023'; end if;
  for priced in select jsonb_object_keys(p_prices) loop
    if priced not in ('call', 'cpu_second', 'wall_second', 'megabyte') then
      raise exception 'there is no price of %', left(priced, 100) using errcode = '22023', hint = 'there are call, cpu_second, wall_second and megabyte';
    end if;
    if jsonb_typeof(p_prices -> priced) <> 'number' then raise exception 'the price of % is a number', priced using errcode = '22023'; end if;
    perform agents.fn_require_amount('a price', (p_prices ->> priced)::numeric);
  end loop;
end $$;

create function agents.fn_tools_registry_guard() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  problem text;
begin
  perform agents.fn_require_bounded('the input schema', new.schema_input);
  perform agents.fn_require_bounded('the output schema', new.schema_output);
  perform agents.fn_require_bounded('the definition', new.definition);
  perform agents.fn_require_bounded('what a tool needs', jsonb_build_array(new.needs_labels, new.needs_boundary), 65536);
  perform agents.fn_require_short('what a tool says of itself', concat(new.name, new.description, new.category, new.endpoint_url, new.http_method, new.credential_ref));
  perform agents.fn_require_amount('an expected cost', new.expected_cost);
  new.prices := nullif(new.prices, '{}');
  perform agents.fn_require_prices(new.prices);
  if new.egress_class is null or new.egress_class not in ('none', 'read_only') then new.egress_class := 'write'; end if;
  if new.egress_class = 'write' or new.is_dangerous then new.requires_approval := true; end if;
  if new.egress_class = 'read_only' and upper(coalesce(new.http_method, 'GET')) not in ('GET', 'HEAD', 'OPTIONS') then
    raise exception 'a tool of the class read_only cannot use %', new.http_method using errcode = '22023', hint = 'its class is write';
  end if;
  if new.egress_class = 'none' and new.endpoint_url is not null then
    raise exception 'a tool of the class none reaches nobody, and has no endpoint' using errcode = '22023', hint = 'its class is read_only or write';
  end if;
  if new.egress_class = 'none' and coalesce(new.definition #> '{policy,network}', '"none"') not in ('"none"', '[]') then
    raise exception 'a tool of the class none reaches nobody, and its policy grants a network' using errcode = '22023', hint = 'its class is read_only or write';
  end if;
  new.auth_method := coalesce(new.auth_method, case when new.credential_ref is null then 'none' else 'api_key' end);
  if (new.auth_method = 'none') <> (new.credential_ref is null) then
    raise exception 'the tool % is known by % and names %', new.key, new.auth_method, coalesce('the credential ' || new.credential_ref, 'no credential') using errcode = '22023', hint = 'with a credential it is api_key, oauth or service_account; without one, none';
  end if;
  problem := agents.fn_schema_problem(new.schema_input);
  if problem is not null then
    raise exception 'the input schema of % cannot be enforced: %', new.key, problem using errcode = '22023';
  end if;
  problem := agents.fn_schema_problem(new.schema_output);
  if new.schema_output is not null and problem is not null then
    raise exception 'the output schema of % cannot be held against what comes of it: %', new.key, problem using errcode = '22023';
  end if;
  if tg_op = 'UPDATE' then
    if (new.id, new.owner, new.key, new.created_by, new.created_at) is distinct from (old.id, old.owner, old.key, old.created_by, old.created_at) then
      raise exception 'a tool keeps its id, owner and key' using errcode = '22023';
    end if;
    -- Whatever a person looked at before saying yes makes it another tool.
    if (new.name, new.description, new.schema_input, new.schema_output, new.egress_class, new.endpoint_url, new.http_method, new.credential_ref, new.auth_method, new.definition,
        new.needs_labels, new.needs_boundary, new.requires_approval, new.approvals_needed, new.is_dangerous, new.expected_cost, new.prices)
       is distinct from
       (old.name, old.description, old.schema_input, old.schema_output, old.egress_class, old.endpoint_url, old.http_method, old.credential_ref, old.auth_method, old.definition,
        old.needs_labels, old.needs_boundary, old.requires_approval, old.approvals_needed, old.is_dangerous, old.expected_cost, old.prices) then
      new.version := old.version + 1;
    else
      new.version := old.version;
    end if;
    new.updated_at := now();
  else
    new.version := 1;
  end if;
  return new;
end $$;

create trigger trg_tools_registry_egress_guard before insert or update on agents.tools_registry
  for each row execute function agents.fn_tools_registry_guard();

create function agents.fn_tools_registry_audit() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_audit(new.owner, 'tool:' || new.id, case tg_op when 'INSERT' then 'tool.registered' else 'tool.changed' end,
    jsonb_build_object('key', new.key, 'version', new.version, 'egress_class', new.egress_class, 'requires_approval', new.requires_approval, 'status', new.status));
  return null;
end $$;
create trigger trg_tools_registry_audit after insert or update on agents.tools_registry for each row execute function agents.fn_tools_registry_audit();

-- allow ∩ groups − deny. What is null says nothing; an empty list allows nothing.
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

-- Stops. `kill` refuses everything that it is about; `pause` lets calls in and starts none.
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

-- What an agent or a profile may use in a window of time. Counted in rows of their own, so that two calls at the same moment both count.
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

create table agents.budget_usage (
  budget_id uuid not null references agents.budgets on delete cascade,
  span_start timestamptz not null,
  calls bigint not null default 0,
  -- Of calls that have ended, and what is held back for those that have not.
  cost numeric not null default 0,
  reserved numeric not null default 0,
  primary key (budget_id, span_start)
);

-- Calls that have ended, until the next call under the same budget adds them up (0006): who ends a call does not wait
-- for who asks for one.
create table agents.budget_releases (
  budget_id uuid not null,
  span_start timestamptz not null,
  reserved numeric not null,
  cost numeric not null
);
create index budget_releases_of on agents.budget_releases (budget_id, span_start);

create function agents.fn_register_tool(
  p_owner text, p_key text, p_name text, p_description text default '', p_category text default 'general',
  p_schema_input jsonb default '{"type":"object"}', p_schema_output jsonb default null, p_egress_class text default null,
  p_requires_approval boolean default true, p_is_dangerous boolean default false, p_endpoint_url text default null, p_http_method text default null,
  p_auth_method text default null, p_credential_ref text default null, p_definition jsonb default '{}',
  p_needs_labels text[] default '{}', p_needs_boundary text[] default '{}', p_approvals_needed int default 1, p_expected_cost numeric default null,
  p_prices jsonb default null
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  result uuid;
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  insert into agents.tools_registry as t (owner, key, name, description, category, schema_input, schema_output, egress_class, requires_approval, is_dangerous,
      endpoint_url, http_method, auth_method, credential_ref, definition, needs_labels, needs_boundary, approvals_needed, expected_cost, prices)
    values (p_owner, p_key, p_name, p_description, p_category, p_schema_input, p_schema_output, p_egress_class, p_requires_approval, p_is_dangerous,
      p_endpoint_url, p_http_method, p_auth_method, p_credential_ref, p_definition, p_needs_labels, p_needs_boundary, p_approvals_needed, p_expected_cost, p_prices)
    on conflict (owner, key) do update set name = excluded.name, description = excluded.description, category = excluded.category,
      schema_input = excluded.schema_input, schema_output = excluded.schema_output, egress_class = excluded.egress_class,
      requires_approval = excluded.requires_approval, is_dangerous = excluded.is_dangerous, endpoint_url = excluded.endpoint_url,
      http_method = excluded.http_method, auth_method = excluded.auth_method, credential_ref = excluded.credential_ref,
      definition = excluded.definition, needs_labels = excluded.needs_labels, needs_boundary = excluded.needs_boundary,
      approvals_needed = excluded.approvals_needed, expected_cost = excluded.expected_cost, prices = excluded.prices, status = 'active'
    returning t.id into result;
  return result;
end $$;

create function agents.fn_set_tool_status(p_tool uuid, p_status text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  tool_owner text;
begin
  select owner into tool_owner from agents.tools_registry where id = p_tool for update;
  if tool_owner is null then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool_owner, array['admin']);
  update agents.tools_registry set status = p_status where id = p_tool;
end $$;

create function agents.fn_assign_tool(p_agent text, p_tool uuid, p_profile text default null, p_allowed boolean default true) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  tool_owner text;
begin
  select owner into tool_owner from agents.tool_assignments where agent = p_agent and tool_id = p_tool for update;
  if tool_owner is null then raise exception '% has no assignment of %', p_agent, p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool_owner, array['admin']);
  delete from agents.tool_assignments where agent = p_agent and tool_id = p_tool;
  perform agents.fn_audit(tool_owner, 'tool:' || p_tool, 'tool.revoked', jsonb_build_object('agent', p_agent));
end $$;

create function agents.fn_set_profile(
  p_owner text, p_name text, p_allow_tools text[] default null, p_deny_tools text[] default '{}', p_tool_groups text[] default null,
  p_overrides jsonb default '{}', p_requires_approval boolean default false, p_is_default boolean default false
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  result uuid;
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  perform agents.fn_require_bounded('the profile', jsonb_build_array(p_name, p_allow_tools, p_deny_tools, p_tool_groups, p_overrides));
  -- What nobody looks at would be a rule that is only believed to hold.
  if jsonb_typeof(p_overrides) is distinct from 'object'
     or exists (select from jsonb_each(p_overrides) as o (key, said) where jsonb_typeof(said) <> 'object' or said not in ('{}', '{"requires_approval":true}', '{"requires_approval":false}')) then
    raise exception 'what a profile says of single tools is whether their calls need approval' using errcode = '22023', hint = 'write {"TOOL": {"requires_approval": true}}';
  end if;
  insert into agents.tool_profiles as t (owner, name, allow_tools, deny_tools, tool_groups, overrides, requires_approval, is_default)
    values (p_owner, p_name, p_allow_tools, p_deny_tools, p_tool_groups, p_overrides, p_requires_approval, p_is_default)
    on conflict (owner, name) do update set allow_tools = excluded.allow_tools, deny_tools = excluded.deny_tools, tool_groups = excluded.tool_groups,
      overrides = excluded.overrides, requires_approval = excluded.requires_approval, is_default = excluded.is_default
    returning t.id into result;
  perform agents.fn_audit(p_owner, 'profile:' || p_name, 'profile.set', jsonb_build_object('allow_tools', p_allow_tools, 'deny_tools', p_deny_tools, 'tool_groups', p_tool_groups, 'overrides', p_overrides, 'requires_approval', p_requires_approval));
  return result;
end $$;

create function agents.fn_set_budget(p_owner text, p_scope text, p_subject text, p_span interval, p_max_calls bigint default null, p_max_cost numeric default null) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  result uuid;
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  perform agents.fn_require_amount('the cost of a budget', p_max_cost);
  -- A month is not as long as any other, and spans are counted from one fixed moment.
  if p_span < interval '1 second' or extract(year from p_span) <> 0 or extract(month from p_span) <> 0 then raise exception 'the span of a budget is in days, hours, minutes or seconds' using errcode = '22023'; end if;
  insert into agents.budgets as b (owner, scope, subject, span, max_calls, max_cost) values (p_owner, p_scope, p_subject, p_span, p_max_calls, p_max_cost)
    on conflict (owner, scope, subject, span) do update set max_calls = excluded.max_calls, max_cost = excluded.max_cost, author = excluded.author returning b.id into result;
  perform agents.fn_audit(p_owner, 'budget:' || result, 'budget.set', jsonb_build_object('scope', p_scope, 'subject', p_subject, 'span', p_span::text, 'max_calls', p_max_calls, 'max_cost', p_max_cost));
  return result;
end $$;

create function agents.fn_remove_budget(p_owner text, p_scope text, p_subject text, p_span interval) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  gone uuid;
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  delete from agents.budgets where owner = p_owner and scope = p_scope and subject = p_subject and span = p_span returning id into gone;
  if gone is null then raise exception 'there is no budget of % % in %', p_scope, p_subject, p_span using errcode = 'P0002'; end if;
  delete from agents.budget_releases where budget_id = gone;
  perform agents.fn_audit(p_owner, 'budget:' || gone, 'budget.removed', jsonb_build_object('scope', p_scope, 'subject', p_subject, 'span', p_span::text));
end $$;

create function agents.fn_stop(p_owner text, p_state text, p_reason text, p_scope text default 'all', p_subject text default '') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_require_member(p_owner, array['admin', 'operator']);
  perform agents.fn_require_short('the reason', p_reason);
  insert into agents.controls (owner, scope, subject, state, reason) values (p_owner, p_scope, p_subject, p_state, p_reason)
    on conflict (owner, scope, subject) do update set state = excluded.state, reason = excluded.reason, author = agents.fn_actor(), since = now();
  perform agents.fn_audit(p_owner, 'control:' || p_scope || ':' || p_subject, 'control.' || p_state, jsonb_build_object('reason', p_reason));
end $$;

create function agents.fn_resume(p_owner text, p_scope text default 'all', p_subject text default '') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_require_member(p_owner, array['admin', 'operator']);
  delete from agents.controls where owner = p_owner and scope = p_scope and subject = p_subject;
  perform agents.fn_audit(p_owner, 'control:' || p_scope || ':' || p_subject, 'control.resumed', '{}');
end $$;

do $$
declare
  name text;
begin
  foreach name in array array['tools_registry', 'tool_profiles', 'tool_assignments', 'controls', 'budgets'] loop
    execute format('alter table agents.%I enable row level security', name);
    execute format('create policy %I on agents.%I for select using (agents.fn_sees(owner, (select agents.fn_teams_as(array[''admin'', ''operator'', ''agent'', ''runner'']))))', name || '_of_own', name);
    execute format('grant select on agents.%I to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role', name);
  end loop;
end $$;

revoke execute on all functions in schema agents from public;
grant execute on function
  agents.fn_register_tool(text, text, text, text, text, jsonb, jsonb, text, boolean, boolean, text, text, text, text, jsonb, text[], text[], int, numeric, jsonb),
  agents.fn_set_tool_status(uuid, text), agents.fn_assign_tool(text, uuid, text, boolean), agents.fn_revoke_tool(text, uuid),
  agents.fn_set_profile(text, text, text[], text[], text[], jsonb, boolean, boolean), agents.fn_set_budget(text, text, text, interval, bigint, numeric), agents.fn_remove_budget(text, text, text, interval)
  to cordon_admin;
grant execute on function agents.fn_stop(text, text, text, text, text), agents.fn_resume(text, text, text) to cordon_admin, cordon_operator;

reset role;

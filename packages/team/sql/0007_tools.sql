-- The tools of a team.
set role cordon_owner;

create table agents.tools_registry (
  id uuid primary key default gen_random_uuid(),
  owner text not null check (owner <> ''),
  key text not null check (key ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$'),
  name text not null,
  description text not null default '',
  category text not null default 'general',
  schema_input jsonb not null default '{"type":"object"}',
  -- Outputs are checked against it. An output that does not fit is stored, with the problem.
  schema_output jsonb,
  -- How the tool authenticates with its credential. Approvers see it.
  auth_method text not null check (auth_method in ('none', 'api_key', 'oauth', 'service_account')),
  requires_approval boolean not null default true,
  is_dangerous boolean not null default false,
  status text not null default 'active' check (status in ('active', 'disabled', 'deprecated')),
  -- The default is the strictest class.
  egress_class text not null default 'write' check (egress_class in ('none', 'read_only', 'write')),
  endpoint_url text,
  http_method text,
  credential_ref text,
  -- How the tool runs: its kind, program and policy. A runner takes them from here, not from the caller.
  definition jsonb not null default '{}',
  -- Labels that a runner must have, and mechanisms that its host must have.
  needs_labels text[] not null default '{}',
  needs_boundary text[] not null default '{}',
  -- The number of people who must approve a call.
  approvals_needed int not null default 1 check (approvals_needed between 1 and 20),
  expected_cost numeric check (expected_cost >= 0),
  -- Prices of a call and of its measured usage: call, cpu_second, wall_second, megabyte. Null: cost is not measured.
  prices jsonb,
  version int not null default 1,
  -- pending: this version may do more than the last one that could be called. Nobody can call it before an operator
  -- approved it.
  review text not null default 'none' check (review in ('none', 'pending', 'approved')),
  -- What this version may newly do, a sentence each.
  widening jsonb not null default '[]',
  -- The last version that could be called, and its rights (fn_tool_rights). A new version is compared with them.
  usable_version int not null default 1,
  usable_rights jsonb not null default '{}',
  registered_by text not null default agents.fn_actor(),
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
      raise exception 'unknown price: %', left(priced, 100) using errcode = '22023', hint = 'prices are for call, cpu_second, wall_second and megabyte';
    end if;
    if jsonb_typeof(p_prices -> priced) <> 'number' then raise exception 'the price of % is a number', priced using errcode = '22023'; end if;
    perform agents.fn_require_amount('a price', (p_prices ->> priced)::numeric);
  end loop;
end $$;

-- Whether a policy writes files and names no class: then the class of the tool is write. A list grants if it has a
-- pattern that does not begin with !. Any other value except none counts as a grant. The private temporary folder of a
-- cell is not a grant.
create function agents.fn_derives_write(p_policy jsonb) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select not coalesce(p_policy ? 'egress_class', false) and (case jsonb_typeof(p_policy #> '{filesystem,write}')
      when 'array' then exists (select from jsonb_array_elements(p_policy #> '{filesystem,write}') as each(pattern) where coalesce(pattern #>> '{}', '') not like '!%')
      when 'string' then p_policy #>> '{filesystem,write}' <> 'none'
      else coalesce(jsonb_typeof(p_policy #> '{filesystem,write}') <> 'null', false) end
    or coalesce(p_policy -> 'presets' @> '["workspace"]', false))
$$;

-- Everything of a tool that can widen: what it may touch, how it is confined, and who is asked.
create function agents.fn_tool_rights(p_tool agents.tools_registry) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object('kind', p_tool.definition -> 'kind', 'policy', p_tool.definition -> 'policy', 'egress_class', p_tool.egress_class,
    'requires_approval', p_tool.requires_approval, 'approvals_needed', p_tool.approvals_needed, 'is_dangerous', p_tool.is_dangerous,
    'needs_boundary', to_jsonb(p_tool.needs_boundary), 'needs_labels', to_jsonb(p_tool.needs_labels),
    'credential_ref', p_tool.credential_ref, 'endpoint_url', p_tool.endpoint_url)
$$;

-- What the database can compare itself. Policies are compared by the process that registers: see fn_register_tool.
create function agents.fn_loosened(p_before jsonb, p_now jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(jsonb_agg(sentence), '[]') from (values
    (array_position(array['none', 'read_only', 'write'], p_now ->> 'egress_class') < array_position(array['none', 'read_only', 'write'], p_before ->> 'egress_class'),
      format('its class is %s instead of %s, so fewer calls are asked about', p_now ->> 'egress_class', p_before ->> 'egress_class')),
    ((p_before -> 'requires_approval')::boolean and not (p_now -> 'requires_approval')::boolean, 'its calls run without approval'),
    ((p_now -> 'approvals_needed')::int < (p_before -> 'approvals_needed')::int,
      format('a call needs %s approvals instead of %s', p_now ->> 'approvals_needed', p_before ->> 'approvals_needed')),
    ((p_before -> 'is_dangerous')::boolean and not (p_now -> 'is_dangerous')::boolean, 'it no longer counts as dangerous'),
    (not (p_now -> 'needs_boundary') @> (p_before -> 'needs_boundary'),
      format('it needs %s instead of %s of its host', p_now ->> 'needs_boundary', p_before ->> 'needs_boundary')),
    (not (p_now -> 'needs_labels') @> (p_before -> 'needs_labels'),
      format('runners with the labels %s instead of %s may run it', p_now ->> 'needs_labels', p_before ->> 'needs_labels')),
    (p_now ->> 'endpoint_url' is distinct from p_before ->> 'endpoint_url' and p_now ->> 'endpoint_url' is not null,
      format('its endpoint is %s', left(p_now ->> 'endpoint_url', 200))),
    (p_now ->> 'credential_ref' is distinct from p_before ->> 'credential_ref' and p_now ->> 'credential_ref' is not null,
      format('it uses the credential %s', left(p_now ->> 'credential_ref', 200)))
  ) as each(is_so, sentence) where is_so
$$;

create function agents.fn_tools_registry_guard() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  problem text;
  rights jsonb;
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
  -- The registered class does not matter here: below write, a lost call would run again without approval.
  if agents.fn_derives_write(new.definition -> 'policy') then new.egress_class := 'write'; end if;
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
  -- Only a changed schema is checked, so that a tool can be disabled even if its schema would be refused today.
  problem := case when tg_op = 'INSERT' or new.schema_input is distinct from old.schema_input then agents.fn_schema_problem(new.schema_input) end;
  if problem is not null then
    raise exception 'the input schema of % cannot be enforced: %', new.key, problem using errcode = '22023';
  end if;
  problem := case when tg_op = 'INSERT' or new.schema_output is distinct from old.schema_output then agents.fn_schema_problem(new.schema_output) end;
  if new.schema_output is not null and problem is not null then
    raise exception 'the output schema of % cannot be checked: %', new.key, problem using errcode = '22023';
  end if;
  if tg_op = 'UPDATE' then
    if (new.id, new.owner, new.key, new.created_by, new.created_at) is distinct from (old.id, old.owner, old.key, old.created_by, old.created_at) then
      raise exception 'a tool keeps its id, owner and key' using errcode = '22023';
    end if;
    -- A change of anything that approvers see makes a new version.
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
    new.usable_rights := agents.fn_tool_rights(new);
  end if;
  if tg_op = 'UPDATE' and new.version > old.version then
    rights := agents.fn_tool_rights(new);
    -- A login of its own could state anything about its policy. A gateway compared the policies itself, and with the
    -- version that is still the last usable one.
    if (rights -> 'policy', rights -> 'kind') is not distinct from (old.usable_rights -> 'policy', old.usable_rights -> 'kind') then
      new.widening := '[]';
    elsif new.widening is null or new.usable_version <> old.usable_version or not pg_has_role(session_user, 'cordon_gateway', 'member') then
      new.widening := '["its policy or kind is another one, and nobody compared it with the last usable version"]';
    end if;
    new.widening := new.widening || agents.fn_loosened(old.usable_rights, rights);
    new.review := case when new.widening = '[]' then 'none' else 'pending' end;
    new.registered_by := agents.fn_actor();
    new.usable_version := case new.review when 'none' then new.version else old.usable_version end;
    new.usable_rights := case new.review when 'none' then rights else old.usable_rights end;
  elsif tg_op = 'UPDATE' and new.review = old.review then
    new.widening := old.widening;
    new.usable_version := old.usable_version;
  end if;
  return new;
end $$;

create trigger trg_tools_registry_egress_guard before insert or update on agents.tools_registry
  for each row execute function agents.fn_tools_registry_guard();

create function agents.fn_tools_registry_audit() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform agents.fn_audit(new.owner, 'tool:' || new.id, case tg_op when 'INSERT' then 'tool.registered' else 'tool.changed' end,
    jsonb_build_object('key', new.key, 'version', new.version, 'egress_class', new.egress_class, 'requires_approval', new.requires_approval, 'status', new.status,
      'review', new.review, 'widening', new.widening));
  return null;
end $$;
create trigger trg_tools_registry_audit after insert or update on agents.tools_registry
  for each row execute function agents.fn_tools_registry_audit();

-- p_widening: what the policy and the kind allow beyond those of the version p_compared_with, a sentence each. The
-- database believes it of a gateway only.
create function agents.fn_register_tool(
  p_owner text, p_key text, p_name text, p_description text default '', p_category text default 'general',
  p_schema_input jsonb default '{"type":"object"}', p_schema_output jsonb default null,
  p_egress_class text default null, p_requires_approval boolean default true, p_is_dangerous boolean default false,
  p_endpoint_url text default null, p_http_method text default null, p_auth_method text default null,
  p_credential_ref text default null, p_definition jsonb default '{}', p_needs_labels text[] default '{}',
  p_needs_boundary text[] default '{}', p_approvals_needed int default 1, p_expected_cost numeric default null,
  p_prices jsonb default null, p_widening jsonb default null, p_compared_with int default null
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  result uuid;
begin
  perform agents.fn_require_member(p_owner, array['admin']);
  perform agents.fn_require_bounded('what a tool may newly do', p_widening, 65536);
  if jsonb_typeof(p_widening) <> 'array' then raise exception 'what a tool may newly do is a list' using errcode = '22023'; end if;
  insert into agents.tools_registry as t (owner, key, name, description, category, schema_input, schema_output, egress_class, requires_approval, is_dangerous,
      endpoint_url, http_method, auth_method, credential_ref, definition, needs_labels, needs_boundary, approvals_needed, expected_cost, prices)
    values (p_owner, p_key, p_name, p_description, p_category, p_schema_input, p_schema_output, p_egress_class, p_requires_approval, p_is_dangerous,
      p_endpoint_url, p_http_method, p_auth_method, p_credential_ref, p_definition, p_needs_labels, p_needs_boundary, p_approvals_needed, p_expected_cost, p_prices)
    on conflict (owner, key) do update set name = excluded.name, description = excluded.description, category = excluded.category,
      schema_input = excluded.schema_input, schema_output = excluded.schema_output, egress_class = excluded.egress_class,
      requires_approval = excluded.requires_approval, is_dangerous = excluded.is_dangerous, endpoint_url = excluded.endpoint_url,
      http_method = excluded.http_method, auth_method = excluded.auth_method, credential_ref = excluded.credential_ref,
      definition = excluded.definition, needs_labels = excluded.needs_labels, needs_boundary = excluded.needs_boundary,
      approvals_needed = excluded.approvals_needed, expected_cost = excluded.expected_cost, prices = excluded.prices, status = 'active',
      widening = p_widening, usable_version = coalesce(p_compared_with, 0)
    returning t.id into result;
  return result;
end $$;

create function agents.fn_set_tool_status(p_tool uuid, p_status text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  tool_owner text;
begin
  select owner into tool_owner from agents.tools_registry where id = p_tool for update;
  if tool_owner is null then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool_owner, array['admin']);
  update agents.tools_registry set status = p_status where id = p_tool;
end $$;

-- An agent approves nothing that it calls itself. The one who registered the version approves it only where the team
-- has no other operator.
create function agents.fn_approve_tool_version(p_tool uuid, p_version int, p_reason text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s' as $$
declare
  tool agents.tools_registry;
begin
  select * into tool from agents.tools_registry where id = p_tool for update;
  if not found then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool.owner, array['operator']);
  perform agents.fn_require_short('the reason', p_reason);
  if tool.version <> p_version then
    raise exception 'the tool % is version % by now, not %', tool.key, tool.version, p_version using errcode = '22023', detail = 'version', hint = format('look at it again: cordon team tools show %s', tool.key);
  end if;
  if tool.review <> 'pending' then raise exception 'version % of % needs no approval', p_version, tool.key using errcode = '22023'; end if;
  if exists (select from agents.members where owner = tool.owner and actor = agents.fn_actor() and kind = 'agent') then
    raise exception 'an agent cannot approve more rights for a tool' using errcode = '42501', hint = 'ask an operator who is no agent';
  end if;
  if tool.registered_by = agents.fn_actor() and exists (select from agents.members m where m.owner = tool.owner and m.kind = 'operator' and m.actor <> tool.registered_by
      and not exists (select from agents.members a where a.owner = m.owner and a.actor = m.actor and a.kind = 'agent')) then
    raise exception '% registered this version of %, and another operator has to approve it', agents.fn_actor(), tool.key using errcode = '42501', hint = format('ask another operator: cordon team tools approve %s %s', tool.key, tool.version);
  end if;
  update agents.tools_registry set review = 'approved', usable_version = version, usable_rights = agents.fn_tool_rights(tool) where id = p_tool;
  perform agents.fn_audit(tool.owner, 'tool:' || tool.id, 'tool.widening_approved', jsonb_strip_nulls(jsonb_build_object('key', tool.key, 'version', tool.version, 'widening', tool.widening, 'reason', p_reason)));
end $$;

alter table agents.tools_registry enable row level security;
create policy tools_registry_of_own on agents.tools_registry for select
  using (agents.fn_sees(owner, (select agents.fn_teams_as(array['admin', 'operator', 'agent', 'runner']))));
grant select on agents.tools_registry to cordon_admin, cordon_operator, cordon_agent, cordon_runner, service_role;

grant execute on function
  agents.fn_register_tool(text, text, text, text, text, jsonb, jsonb, text, boolean, boolean, text, text, text, text,
    jsonb, text[], text[], int, numeric, jsonb, jsonb, int),
  agents.fn_set_tool_status(uuid, text)
  to cordon_admin;
grant execute on function agents.fn_approve_tool_version(uuid, int, text) to cordon_operator;

reset role;

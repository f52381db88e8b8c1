-- A tool that writes files changes something outside of itself, whatever it reaches: its class is write, unless its policy
-- names a class. What its policy grants says so. The private temporary folder of a cell is no grant, and does not count.
set role cordon_owner;

-- Whether write is the class that follows from a policy by its files. A list of patterns of which at least one grants; what begins with ! takes away. Anything else but none is taken for a grant.
create function agents.fn_derives_write(p_policy jsonb) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select not coalesce(p_policy ? 'egress_class', false) and (case jsonb_typeof(p_policy #> '{filesystem,write}')
      when 'array' then exists (select from jsonb_array_elements(p_policy #> '{filesystem,write}') as each(pattern) where coalesce(pattern #>> '{}', '') not like '!%')
      when 'string' then p_policy #>> '{filesystem,write}' <> 'none'
      else coalesce(jsonb_typeof(p_policy #> '{filesystem,write}') <> 'null', false) end
    or coalesce(p_policy -> 'presets' @> '["workspace"]', false))
$$;

create or replace function agents.fn_tools_registry_guard() returns trigger
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
  -- Whatever class it is registered with: a call that was lost is run again below write, and nobody need be asked.
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
  -- Only a schema that is new: a tool from before can still be disabled, whatever is refused since.
  problem := case when tg_op = 'INSERT' or new.schema_input is distinct from old.schema_input then agents.fn_schema_problem(new.schema_input) end;
  if problem is not null then
    raise exception 'the input schema of % cannot be enforced: %', new.key, problem using errcode = '22023';
  end if;
  problem := case when tg_op = 'INSERT' or new.schema_output is distinct from old.schema_output then agents.fn_schema_problem(new.schema_output) end;
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

-- Those that are there already: each becomes the next version, with the class that it should have had.
update agents.tools_registry set egress_class = 'write' where egress_class <> 'write' and agents.fn_derives_write(definition -> 'policy');

revoke execute on function agents.fn_derives_write(jsonb) from public;

reset role;

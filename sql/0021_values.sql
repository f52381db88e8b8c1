-- Values that callers hand in take a time that grows with their length and no faster, and are checked in the same way
-- whatever the session of the caller is set to.
set role cordon_owner;

-- What is wrong with the pattern of a schema; null where nothing is. What was matched before, matched again, can take for
-- ever. A look-ahead or look-behind is tried at every place, and looks at all of the rest each time: it is taken only
-- where it is tried once, directly after a leading ^. What means something else here than where schemas come from (\b is
-- no edge of a word) would let in what it was to keep out.
create function agents.fn_pattern_problem(p_pattern text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
  plain text;
  before text;
begin
  if char_length(p_pattern) > 4096 then return 'of more than 4096 characters'; end if;
  if p_pattern ~ '\\[1-9]' then return 'with a reference back'; end if;
  plain := regexp_replace(p_pattern, '\\([dwsDWS.\\/(){}+*?^$|nrtfv-]|\[|\]|u[0-9a-fA-F]{4})', '_', 'g');
  if plain ~ '\\|\[\^?\]|\[[[][.:=]|\(\?[^:=!<]|^[*]' then
    return 'with something that means something else here; use \d \w \s \n \t and escaped signs';
  end if;
  -- Without sets of characters, and without groups from the innermost outwards, what is left of groups looks around.
  plain := regexp_replace(plain, '\[[^]]*\]', '_', 'g');
  loop
    before := plain;
    plain := regexp_replace(plain, '\((\?:[^()]*|[^()?][^()]*|)\)', '_', 'g');
    exit when plain = before;
  end loop;
  if left(plain, 1) = '^' then plain := regexp_replace(substr(plain, 2), '^(\(\?[=!][^()]*\)(?![*+?{]))+', ''); end if;
  if plain ~ '\(\?[=!<]' then return 'that looks ahead or behind elsewhere than directly after a leading ^, which takes too long'; end if;
  begin
    perform '' ~ p_pattern;
  exception when others then return 'that cannot be read';
  end;
  return null;
end $$;

-- How long a text may be that is held against it. Patterns from before 0021 may look around anywhere.
create function agents.fn_pattern_reach(p_pattern text) returns int
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case when position('(?=' in p_pattern) + position('(?!' in p_pattern) + position('(?<' in p_pattern) > 0 and agents.fn_pattern_problem(p_pattern) is not null then 1000 else 100000 end;
end $$;

create or replace function agents.fn_schema_problem(p_schema jsonb, p_place text default '$') returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  keyword text;
  inner_schema record;
  problem text;
begin
  if jsonb_typeof(p_schema) = 'boolean' then return null; end if;
  if p_schema is null or jsonb_typeof(p_schema) <> 'object' then return p_place || ' is no schema'; end if;
  select key into keyword from jsonb_object_keys(p_schema) as key where key <> all (agents.fn_schema_keywords()) limit 1;
  if keyword is not null then return format('%s has the keyword %s, which is not checked here', p_place, keyword); end if;
  select key into keyword from jsonb_each(p_schema) as each(key, value) where not agents.fn_keyword_fits(key, value) limit 1;
  if keyword is not null then return format('%s has the keyword %s with a value that cannot be checked', p_place, keyword); end if;
  if p_schema ? 'pattern' then
    problem := agents.fn_pattern_problem(p_schema ->> 'pattern');
    if problem is not null then return format('%s has a pattern %s', p_place, problem); end if;
  end if;
  for inner_schema in
    select format('%s.%s', p_place, key) as place, value from jsonb_each(case when jsonb_typeof(p_schema -> 'properties') = 'object' then p_schema -> 'properties' else '{}' end)
    union all
    select format('%s.%s', p_place, key), p_schema -> key from unnest(array['items', 'additionalProperties', 'not']) as key where p_schema ? key
    union all
    select format('%s.%s[%s]', p_place, key, number - 1), value
      from unnest(array['anyOf', 'oneOf', 'allOf']) as key,
        jsonb_array_elements(case when jsonb_typeof(p_schema -> key) = 'array' then p_schema -> key else '[]' end) with ordinality as each(value, number)
  loop
    problem := agents.fn_schema_problem(inner_schema.value, inner_schema.place);
    if problem is not null then return problem; end if;
  end loop;
  return null;
end $$;

create or replace function agents.fn_input_problem(p_value jsonb, p_schema jsonb, p_place text default 'input') returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  kind text := jsonb_typeof(p_value);
  part record;
  problem text;
  fitting int;
  written text;
begin
  if jsonb_typeof(p_schema) = 'boolean' then
    return case when p_schema = 'true'::jsonb then null else format('%s is not allowed', p_place) end;
  end if;
  if p_schema ? 'type' then
    if jsonb_typeof(p_schema -> 'type') = 'array' then
      if not exists (select from jsonb_array_elements_text(p_schema -> 'type') as wanted where agents.fn_is_type(p_value, wanted)) then
        return format('%s must be one of %s, not %s', p_place, p_schema -> 'type', kind);
      end if;
    elsif not agents.fn_is_type(p_value, p_schema ->> 'type') then
      return format('%s must be %s, not %s', p_place, p_schema ->> 'type', kind);
    end if;
  end if;
  if p_schema ? 'const' and p_value <> p_schema -> 'const' then return format('%s must be %s', p_place, p_schema -> 'const'); end if;
  if p_schema ? 'enum' and not exists (select from jsonb_array_elements(p_schema -> 'enum') as allowed where allowed = p_value) then
    return format('%s must be one of %s', p_place, p_schema -> 'enum');
  end if;

  if kind = 'object' then
    select name into written from jsonb_array_elements_text(coalesce(p_schema -> 'required', '[]')) as name where not p_value ? name limit 1;
    if written is not null then return format('%s.%s is missing', p_place, written); end if;
    select count(*) into fitting from jsonb_object_keys(p_value);
    if fitting < (p_schema ->> 'minProperties')::int then return format('%s has too few properties', p_place); end if;
    if fitting > (p_schema ->> 'maxProperties')::int then return format('%s has too many properties', p_place); end if;
    for part in select key, value from jsonb_each(p_value) loop
      if p_schema -> 'properties' ? part.key then
        problem := agents.fn_input_problem(part.value, p_schema -> 'properties' -> part.key, p_place || '.' || part.key);
      elsif p_schema ? 'additionalProperties' then
        problem := agents.fn_input_problem(part.value, p_schema -> 'additionalProperties', p_place || '.' || part.key);
      end if;
      if problem is not null then return problem; end if;
    end loop;
  elsif kind = 'array' then
    if jsonb_array_length(p_value) < (p_schema ->> 'minItems')::int then return format('%s has too few items', p_place); end if;
    if jsonb_array_length(p_value) > (p_schema ->> 'maxItems')::int then return format('%s has too many items', p_place); end if;
    if p_schema -> 'uniqueItems' = 'true'::jsonb
       and (select count(distinct item) < count(*) from jsonb_array_elements(p_value) as item) then return format('%s has an item twice', p_place); end if;
    if p_schema ? 'items' then
      for part in select value, number from jsonb_array_elements(p_value) with ordinality as each(value, number) loop
        problem := agents.fn_input_problem(part.value, p_schema -> 'items', format('%s[%s]', p_place, part.number - 1));
        if problem is not null then return problem; end if;
      end loop;
    end if;
  elsif kind = 'string' then
    written := p_value #>> '{}';
    if char_length(written) < (p_schema ->> 'minLength')::int then return format('%s is too short', p_place); end if;
    if char_length(written) > (p_schema ->> 'maxLength')::int then return format('%s is too long', p_place); end if;
    if p_schema ? 'pattern' and char_length(written) > agents.fn_pattern_reach(p_schema ->> 'pattern') then return format('%s is too long for a pattern', p_place); end if;
    if p_schema ? 'pattern' and written !~ (p_schema ->> 'pattern') then return format('%s does not fit its pattern', p_place); end if;
  elsif kind = 'number' then
    if (p_value #>> '{}')::numeric < (p_schema ->> 'minimum')::numeric then return format('%s is too small', p_place); end if;
    if (p_value #>> '{}')::numeric > (p_schema ->> 'maximum')::numeric then return format('%s is too large', p_place); end if;
    if (p_value #>> '{}')::numeric <= (p_schema ->> 'exclusiveMinimum')::numeric then return format('%s is too small', p_place); end if;
    if (p_value #>> '{}')::numeric >= (p_schema ->> 'exclusiveMaximum')::numeric then return format('%s is too large', p_place); end if;
    if (p_value #>> '{}')::numeric % nullif((p_schema ->> 'multipleOf')::numeric, 0) <> 0 then return format('%s is no multiple', p_place); end if;
  end if;

  for part in select value from jsonb_array_elements(coalesce(p_schema -> 'allOf', '[]')) loop
    problem := agents.fn_input_problem(p_value, part.value, p_place);
    if problem is not null then return problem; end if;
  end loop;
  if p_schema ? 'anyOf' or p_schema ? 'oneOf' then
    select count(*) into fitting from jsonb_array_elements(coalesce(p_schema -> 'anyOf', p_schema -> 'oneOf')) as choice
      where agents.fn_input_problem(p_value, choice, p_place) is null;
    if fitting = 0 then return format('%s fits none of its forms', p_place); end if;
    if fitting > 1 and p_schema ? 'oneOf' and not p_schema ? 'anyOf' then return format('%s fits several of its forms', p_place); end if;
  end if;
  if p_schema ? 'anyOf' and p_schema ? 'oneOf' then
    select count(*) into fitting from jsonb_array_elements(p_schema -> 'oneOf') as choice where agents.fn_input_problem(p_value, choice, p_place) is null;
    if fitting <> 1 then return format('%s does not fit exactly one of its forms', p_place); end if;
  end if;
  if p_schema ? 'not' and agents.fn_input_problem(p_value, p_schema -> 'not', p_place) is null then return format('%s has a form that it must not have', p_place); end if;
  return null;
end $$;

-- What is wrong with a value before anything else is asked about it. Numbers are as every program reads them: one that a
-- person was shown, and a program takes for another, was not approved. Its size comes first. A number such as 1e131071
-- takes ten bytes in memory and a hundred thousand as a text, so numbers are bounded before the text is written.
create or replace function agents.fn_json_problem(p_value jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp set extra_float_digits = 1 as $$
begin
  if p_value is null then return 'is missing'; end if;
  -- In memory small numbers are up to six times as large as in a text.
  if pg_column_size(p_value) > 8 * 4194304 then return 'is larger than 4 MB'; end if;
  if jsonb_path_exists(p_value, '$.** ? (@.type() == "number" && (@ > 9007199254740991 || @ < -9007199254740991 || (@ > -1e-30 && @ < 1e-30 && @ != 0)))') then
    return 'has a number that is too large or too small to be the same everywhere; write it as a text';
  end if;
  -- Nought, too, can be written with thousands of digits.
  if exists (select from agents.fn_numbers_in(p_value) as number where scale(number::numeric) > 60) then
    return 'has a number with more digits than are the same everywhere; write it as a text';
  end if;
  if octet_length(p_value::text) > 4194304 then return 'is larger than 4 MB'; end if;
  if exists (select from agents.fn_numbers_in(p_value) as number where to_jsonb((number #>> '{}')::float8) <> number) then
    return 'has a number with more digits than are the same everywhere; write it as a text';
  end if;
  return null;
end $$;

revoke execute on function agents.fn_pattern_problem(text), agents.fn_pattern_reach(text) from public;

-- The text of a function is read when a session first calls it, and a session can say that \ means something in it.
do $$
declare
  each regprocedure;
begin
  for each in
    select p.oid from pg_proc p where p.pronamespace = 'agents'::regnamespace and position(chr(92) in p.prosrc) > 0
      and not exists (select from unnest(p.proconfig) as setting where setting like 'standard_conforming_strings=%')
  loop
    execute format('alter function %s set standard_conforming_strings = on', each);
  end loop;
end $$;

-- As 0014 has it, for what is new since.
do $$
declare
  waiting regprocedure;
begin
  for waiting in
    select p.oid from pg_proc p where p.pronamespace = 'agents'::regnamespace and p.prosecdef and p.provolatile = 'v'
      and not exists (select from unnest(p.proconfig) as setting where setting like 'lock_timeout=%')
      and exists (select from unnest(array['cordon_admin', 'cordon_operator', 'cordon_agent', 'cordon_runner', 'cordon_gateway', 'service_role']) as role where has_function_privilege(role, p.oid, 'execute'))
  loop
    execute format('alter function %s set lock_timeout = %L', waiting, '10s');
  end loop;
end $$;

reset role;

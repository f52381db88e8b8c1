-- JSON Schema, as far as tools use it, checked where nobody can go around it. A keyword that is not known here
-- is refused when the tool is registered: a check that is only believed to be made is worse than none.
set role cordon_owner;

create function agents.fn_schema_keywords() returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select array['$schema', '$id', 'title', 'description', 'default', 'examples', 'deprecated', 'x-cordon',
    'type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties',
    'items', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern',
    'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'anyOf', 'oneOf', 'allOf', 'not']
$$;

-- Whether a keyword says something that can be checked: null, say, would be taken for nothing said.
create function agents.fn_keyword_fits(p_keyword text, p_value jsonb) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case
    when p_keyword = 'type' then
      (jsonb_typeof(p_value) = 'string' or (jsonb_typeof(p_value) = 'array' and jsonb_array_length(p_value) > 0))
      and not exists (select from jsonb_array_elements(case jsonb_typeof(p_value) when 'array' then p_value else jsonb_build_array(p_value) end) as each(name)
        where name not in ('"object"', '"array"', '"string"', '"number"', '"integer"', '"boolean"', '"null"'))
    when p_keyword = 'enum' then jsonb_typeof(p_value) = 'array'
    when p_keyword = 'required' then jsonb_typeof(p_value) = 'array' and not exists (select from jsonb_array_elements(p_value) as each(name) where jsonb_typeof(name) <> 'string')
    when p_keyword in ('anyOf', 'oneOf', 'allOf') then jsonb_typeof(p_value) = 'array' and jsonb_array_length(p_value) > 0
    when p_keyword = 'properties' then jsonb_typeof(p_value) = 'object'
    when p_keyword in ('items', 'additionalProperties', 'not') then jsonb_typeof(p_value) in ('object', 'boolean')
    when p_keyword in ('minProperties', 'maxProperties', 'minItems', 'maxItems', 'minLength', 'maxLength') then
      jsonb_typeof(p_value) = 'number' and p_value >= '0' and p_value <= '2147483647' and (p_value #>> '{}')::numeric % 1 = 0
    when p_keyword in ('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum') then jsonb_typeof(p_value) = 'number'
    when p_keyword = 'multipleOf' then jsonb_typeof(p_value) = 'number' and p_value > '0'
    when p_keyword = 'uniqueItems' then jsonb_typeof(p_value) = 'boolean'
    when p_keyword = 'pattern' then jsonb_typeof(p_value) = 'string'
    else true
  end
$$;

-- What is wrong with a schema: null, or the first problem, with its place.
create function agents.fn_schema_problem(p_schema jsonb, p_place text default '$') returns text
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
    -- What was matched before, matched again, can take for ever. What means something else here than where schemas come
    -- from (\b is no edge of a word) would let in what it was to keep out.
    if p_schema ->> 'pattern' ~ '\\[1-9]' then return format('%s has a pattern with a reference back', p_place); end if;
    if regexp_replace(p_schema ->> 'pattern', '\\([dwsDWS.\\/(){}+*?^$|nrtfv-]|\[|\]|u[0-9a-fA-F]{4})', '', 'g') ~ '\\|\[[[][.:=]|\(\?[^:=!<]|^[*]' then
      return format('%s has a pattern with something that means something else here; use \d \w \s \n \t and escaped signs', p_place);
    end if;
    begin
      perform '' ~ (p_schema ->> 'pattern');
    exception when others then return format('%s has a pattern that cannot be read', p_place);
    end;
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

create function agents.fn_is_type(p_value jsonb, p_type text) returns boolean
language sql immutable
return case p_type
    when 'integer' then jsonb_typeof(p_value) = 'number' and (p_value #>> '{}')::numeric % 1 = 0
    else jsonb_typeof(p_value) = p_type end;

-- What is wrong with a value: null, or the first problem, with its place and without the value itself.
create function agents.fn_input_problem(p_value jsonb, p_schema jsonb, p_place text default 'input') returns text
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
    if p_schema ? 'pattern' and char_length(written) > 100000 then return format('%s is too long for a pattern', p_place); end if;
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

-- All numbers in a value. As an array: jsonb_path_query itself takes a time that grows with the square of their number.
create function agents.fn_numbers_in(p_value jsonb) returns setof jsonb
language sql immutable
begin atomic
  select jsonb_array_elements(jsonb_path_query_array(p_value, 'strict $.** ? (@.type() == "number")'));
end;

-- What is wrong with a value before anything else is asked about it. Numbers are as every program reads them: one that
-- a person was shown, and a program takes for another, was not approved.
create function agents.fn_json_problem(p_value jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_value is null then return 'is missing'; end if;
  -- Nought, too, can be written with thousands of digits.
  if exists (select from agents.fn_numbers_in(p_value) as number where scale(number::numeric) > 60) then
    return 'has a number with more digits than are the same everywhere; write it as a text';
  end if;
  if jsonb_path_exists(p_value, '$.** ? (@.type() == "number" && (@ > 9007199254740991 || @ < -9007199254740991 || (@ > -1e-30 && @ < 1e-30 && @ != 0)))') then
    return 'has a number that is too large or too small to be the same everywhere; write it as a text';
  end if;
  if exists (select from agents.fn_numbers_in(p_value) as number where to_jsonb((number #>> '{}')::float8) <> number) then
    return 'has a number with more digits than are the same everywhere; write it as a text';
  end if;
  if octet_length(p_value::text) > 4194304 then return 'is larger than 4 MB'; end if;
  return null;
end $$;

-- What else callers hand in: outputs, plans, facts, definitions. Every double may be in it, as programs write them. A
-- number such as 1e131071 takes ten bytes and a hundred thousand letters, so sizes are known before anything is
-- written out: only numbers become longer than what was sent.
create function agents.fn_require_bounded(p_what text, p_value jsonb, p_most int default 1048576) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  is_double boolean;
  letters bigint;
begin
  if p_value is null then return; end if;
  -- In memory small numbers are up to six times as large as in a text.
  if pg_column_size(p_value) > 8::bigint * p_most then raise exception '% is larger than %', p_what, pg_size_pretty(p_most::bigint) using errcode = '22023'; end if;
  select coalesce(bool_and(n.fits), true), coalesce(sum(case when n.fits then length(n.value::text) end), 0) into is_double, letters
    from (select each::numeric as value, abs(each::numeric) <= 1.7976931348623157e308 and scale(each::numeric) <= 400 as fits
      from agents.fn_numbers_in(p_value) as each) n;
  if not is_double then raise exception '% has a number that no program can read as a double', p_what using errcode = '22023', hint = 'write it as a text'; end if;
  if letters > p_most or octet_length(p_value::text) > p_most then raise exception '% is larger than %', p_what, pg_size_pretty(p_most::bigint) using errcode = '22023'; end if;
end $$;

create function agents.fn_require_short(p_what text, p_text text, p_most int default 65536) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if octet_length(p_text) > p_most then raise exception '% is longer than %', p_what, pg_size_pretty(p_most::bigint) using errcode = '22023'; end if;
end $$;

-- An amount of money: NaN and Infinity compare as larger than every bound, and are none.
create function agents.fn_require_amount(p_what text, p_amount numeric) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_amount in ('NaN', 'Infinity', '-Infinity') or p_amount < 0 or p_amount > 1e12 or scale(p_amount) > 400 then
    raise exception '% is a number from 0 to 1e12', p_what using errcode = '22023';
  end if;
end $$;

revoke execute on all functions in schema agents from public;
reset role;

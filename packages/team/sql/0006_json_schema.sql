-- The part of JSON Schema that tools use, checked in the database, where no program can bypass it. Registration refuses
-- an unknown keyword: a check that people only believe in is worse than none. Keywords and patterns mean what JSON
-- Schema and ECMAScript say.
set role cordon_owner;

create function agents.fn_schema_keywords() returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select array['$schema', '$id', 'title', 'description', 'default', 'examples', 'deprecated', 'x-cordon',
    'type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties',
    'items', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern',
    'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'anyOf', 'oneOf', 'allOf', 'not']
$$;

-- Whether the value of a keyword can be checked. Null, for example, would count as an absent keyword.
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
    when p_keyword = '$schema' then coalesce(p_value #>> '{}' in ('https://json-schema.org/draft/2020-12/schema', 'https://json-schema.org/draft/2019-09/schema',
      'http://json-schema.org/draft-07/schema#', 'http://json-schema.org/draft-07/schema', 'http://json-schema.org/draft-06/schema#', 'http://json-schema.org/draft-06/schema'), false)
    else true
  end
$$;

-- A pattern with each class spelt out. In PostgreSQL \w, \s and \d match letters, blanks and digits of every language,
-- and . matches the end of a line, so a pattern would accept too much. Within [...] a class gets no brackets.
create function agents.fn_spelt_pattern(p_pattern text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
  digits constant text := '0-9';
  letters constant text := 'A-Za-z0-9_';
  blanks constant text := ' \u0009-\u000d\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
  inside constant jsonb := jsonb_build_object('\d', digits, '\w', letters, '\s', blanks,
    '\D', '\u0001-\u002f\u003a-\U0010ffff', '\W', '\u0001-\u002f\u003a-\u0040\u005b-\u005e\u0060\u007b-\U0010ffff',
    '\S', '\u0001-\u0008\u000e-\u001f\u0021-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff');
  outside constant jsonb := jsonb_build_object('.', '[^\n\r\u2028\u2029]', '\d', '[' || digits || ']', '\D', '[^' || digits || ']',
    '\w', '[' || letters || ']', '\W', '[^' || letters || ']', '\s', '[' || blanks || ']', '\S', '[^' || blanks || ']');
begin
  if p_pattern !~ '[.]|\\[dDwWsS]' then return p_pattern; end if;
  return (
    select string_agg(
      case when left(token[1], 1) = '[' then
        (select string_agg(coalesce(inside ->> part[1], part[1]), '' order by place) from regexp_matches(token[1], '\\.|[^\\]+', 'g') with ordinality as each(part, place))
      else coalesce(outside ->> token[1], token[1]) end, '' order by number)
    from regexp_matches(p_pattern, '\\.|\[(?:[^]\\]|\\.)*\]|[.]|[^.\\[]+', 'g') with ordinality as each(token, number));
end $$;

-- The first problem of a pattern, or null. A back reference can take forever. A lookahead or lookbehind is tried at
-- every place and reads the rest each time, so it is allowed only directly after a leading ^. Escapes that mean
-- something else in PostgreSQL are refused: \b, for example, is not the edge of a word.
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
  -- Remove sets of characters, and then groups from the innermost outwards. The groups that remain are lookarounds.
  plain := regexp_replace(plain, '\[[^]]*\]', '_', 'g');
  loop
    before := plain;
    plain := regexp_replace(plain, '\((\?:[^()]*|[^()?][^()]*|)\)', '_', 'g');
    exit when plain = before;
  end loop;
  if left(plain, 1) = '^' then plain := regexp_replace(substr(plain, 2), '^(\(\?[=!][^()]*\)(?![*+?{]))+', ''); end if;
  if plain ~ '\(\?[=!<]' then return 'that looks ahead or behind elsewhere than directly after a leading ^, which takes too long'; end if;
  begin
    perform '' ~ p_pattern, '' ~ agents.fn_spelt_pattern(p_pattern);
  exception when others then return 'that cannot be read';
  end;
  return null;
end $$;

-- The longest text that a pattern is tried on. It is shorter for a lookaround that registration would refuse.
create function agents.fn_pattern_reach(p_pattern text) returns int
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case when position('(?=' in p_pattern) + position('(?!' in p_pattern) + position('(?<' in p_pattern) > 0 and agents.fn_pattern_problem(p_pattern) is not null then 1000 else 100000 end;
end $$;

-- The first problem of a schema with its place, or null.
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

create function agents.fn_is_type(p_value jsonb, p_type text) returns boolean
language sql immutable
return case p_type
    when 'integer' then jsonb_typeof(p_value) = 'number' and (p_value #>> '{}')::numeric % 1 = 0
    else jsonb_typeof(p_value) = p_type end;

-- The first problem of a value with its place, or null. The text never contains the value itself.
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
    if p_schema ? 'pattern' and char_length(written) > agents.fn_pattern_reach(p_schema ->> 'pattern') then return format('%s is too long for a pattern', p_place); end if;
    if p_schema ? 'pattern' and written !~ agents.fn_spelt_pattern(p_schema ->> 'pattern') then return format('%s does not fit its pattern', p_place); end if;
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

reset role;

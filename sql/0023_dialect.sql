-- A schema means here what JSON Schema and ECMAScript say. In a regular expression of PostgreSQL \w, \s and \d take the
-- letters, blanks and digits of every language, and . takes the end of a line, so a pattern let in what it was to keep
-- out. And a schema in a dialect of its own was read as if it were in the usual one.
set role cordon_owner;

-- The pattern with each class spelt out. [...] is taken as a whole: in it a class has no brackets of its own.
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

revoke execute on function agents.fn_spelt_pattern(text) from public;

-- Only a line of each function changes.
do $$
declare
  change record;
  definition text;
begin
  for change in select * from (values
    ('agents.fn_input_problem(jsonb, jsonb, text)', $old$written !~ (p_schema ->> 'pattern')$old$, $new$written !~ agents.fn_spelt_pattern(p_schema ->> 'pattern')$new$),
    ('agents.fn_pattern_problem(text)', $old$perform '' ~ p_pattern;$old$, $new$perform '' ~ p_pattern, '' ~ agents.fn_spelt_pattern(p_pattern);$new$),
    ('agents.fn_keyword_fits(text, jsonb)', $old$else true$old$,
      $new$when p_keyword = '$schema' then coalesce(p_value #>> '{}' in ('https://json-schema.org/draft/2020-12/schema', 'https://json-schema.org/draft/2019-09/schema',
      'http://json-schema.org/draft-07/schema#', 'http://json-schema.org/draft-07/schema', 'http://json-schema.org/draft-06/schema#', 'http://json-schema.org/draft-06/schema'), false)
    else true$new$)
  ) as each(name, old, new) loop
    definition := pg_get_functiondef(change.name::regprocedure);
    if position(change.old in definition) = 0 then raise exception '% is not as 0021 left it', change.name; end if;
    execute replace(definition, change.old, change.new);
  end loop;
end $$;

reset role;

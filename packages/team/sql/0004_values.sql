-- Values: ids that contain their time, hashes, and limits of the values that callers send. Checking a value takes time
-- in proportion to its length, and no setting of the session changes the result.
set role cordon_owner;

-- A UUID of version 7. It contains its time, so that a call is found in one partition.
create function agents.fn_new_id() returns uuid
language sql volatile
return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid;

create function agents.fn_time_of(p_id uuid) returns timestamptz
language sql immutable parallel safe
return to_timestamp(('x0000' || substr(replace(p_id::text, '-', ''), 1, 12))::bit(64)::bigint / 1000.0);

create function agents.fn_hash(p_value jsonb) returns text
language sql stable
return 'sha256:' || encode(sha256(convert_to(p_value::text, 'UTF8')), 'hex');

-- All numbers in a value. They are collected into an array first, because jsonb_path_query by itself takes quadratic
-- time.
create function agents.fn_numbers_in(p_value jsonb) returns setof jsonb
language sql immutable
begin atomic
  select jsonb_array_elements(jsonb_path_query_array(p_value, 'strict $.** ? (@.type() == "number")'));
end;

-- The first problem of the input of a call, or null. Every program must read its numbers in the same way: otherwise the
-- tool would get another number than the approver saw. The order matters. The size in memory is known at once, and bounds
-- the time of everything else: a small number takes twelve bytes there. A number such as 1e131071 takes ten bytes in
-- memory and a hundred thousand as text, so numbers are limited before they or the value become text.
create function agents.fn_json_problem(p_value jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp set extra_float_digits = 1 as $$
declare
  is_in_range boolean;
  is_exact boolean;
begin
  if p_value is null then return 'is missing'; end if;
  if pg_column_size(p_value) > 4194304 then return 'is larger than 4 MB'; end if;
  select coalesce(bool_and(n.fits), true), coalesce(bool_and(case when n.fits then n.digits <= 60 end), true) into is_in_range, is_exact
    from (select abs(each::numeric) <= 9007199254740991 and (abs(each::numeric) >= 1e-30 or each::numeric = 0) as fits, scale(each::numeric) as digits
      from agents.fn_numbers_in(p_value) as each) n;
  if not is_in_range then return 'has a number that is too large or too small to be the same everywhere; write it as a text'; end if;
  -- Even zero can be written with thousands of digits.
  if not is_exact or exists (select from agents.fn_numbers_in(p_value) as number where to_jsonb(number::float8) <> number) then
    return 'has a number with more digits than are the same everywhere; write it as a text';
  end if;
  if octet_length(p_value::text) > 4194304 then return 'is larger than 4 MB'; end if;
  return null;
end $$;

-- Limits every other value: outputs, plans, facts, definitions. Any double is allowed. A number such as 1e131071 takes
-- ten bytes and has a hundred thousand digits, so the sizes are checked before the value becomes text. Only numbers
-- become longer than they were sent. The size in memory comes first, because it bounds the time of the rest.
create function agents.fn_require_bounded(p_what text, p_value jsonb, p_most int default 1048576) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  is_double boolean;
  letters bigint;
begin
  if p_value is null then return; end if;
  if pg_column_size(p_value) > p_most then raise exception '% is larger than %', p_what, pg_size_pretty(p_most::bigint) using errcode = '22023'; end if;
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

-- Amounts of money. NaN and Infinity are refused because they compare as larger than every limit.
create function agents.fn_require_amount(p_what text, p_amount numeric) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_amount in ('NaN', 'Infinity', '-Infinity') or p_amount < 0 or p_amount > 1e12 or scale(p_amount) > 400 then
    raise exception '% is a number from 0 to 1e12', p_what using errcode = '22023';
  end if;
end $$;

grant execute on function agents.fn_time_of(uuid)
  to cordon_admin, cordon_operator, cordon_agent, cordon_runner, cordon_gateway, service_role;

reset role;

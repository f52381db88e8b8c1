/** A mapping of any names has no optional fields. */
type OptionalName<Fields, Name extends keyof Fields> = string extends Name
  ? never
  : undefined extends Fields[Name]
    ? Name
    : never

type WithoutUndefined<Fields> = {
  [Name in keyof Fields as Exclude<Name, OptionalName<Fields, Name>>]: Exclude<Fields[Name], undefined>
} & { [Name in keyof Fields as OptionalName<Fields, Name>]?: Exclude<Fields[Name], undefined> }

/** Leaves out the fields without a value: an optional field may be missing, but not undefined. */
export const withoutUndefined = <Fields extends object>(fields: Fields): WithoutUndefined<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<Fields>

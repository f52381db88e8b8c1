/** The message of a thrown value. Some values cannot be turned into a text. */
export const messageOf = (thrown: unknown): string => {
  if (thrown instanceof Error) return thrown.message
  return typeof thrown === 'string' ? thrown : `something of the type ${typeof thrown} was thrown`
}

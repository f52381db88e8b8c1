/** The message of a thrown value. Some values cannot be turned into a text. */
export const thrownMessage = (thrown: unknown): string => {
  if (thrown instanceof Error) return thrown.message
  return typeof thrown === 'string' ? thrown : `something of the type ${typeof thrown} was thrown`
}

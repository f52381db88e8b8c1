// A command that removes or renews installed packages is refused hundreds of files. One line for a package is enough.
import type { CordonEvent } from '../../runtime/index.js'

/** Of the refused files in a package only the first, with the number of the others. */
export const onePerPackage = (events: readonly CordonEvent[]): readonly CordonEvent[] => {
  const counts = new Map<string, number>()
  for (const event of events) {
    const name = packageOf(event)
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return events.flatMap((event) => {
    const name = packageOf(event)
    if (name === undefined || event.type !== 'sandbox.violation') return [event]
    const count = counts.get(name)
    if (count === undefined) return []
    counts.delete(name)
    return count === 1
      ? [event]
      : [{ ...event, description: `${event.description}, and ${String(count - 1)} more in ${name} (--json has all)` }]
  })
}

const packageOf = (event: CordonEvent): string | undefined =>
  event.type === 'sandbox.violation' && event.violation.kind === 'file'
    ? /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(event.violation.path)?.[0]
    : undefined

// The tools of a runtime for an SDK that Cordon has no adapter for: two functions of the runtime are enough.
import { toModel } from 'cordon'

export const plainTools = (cordon) => {
  const tickets = []
  return {
    tools: cordon.listTools(),
    /** The tickets of the calls that wait for a person. */
    tickets,
    call: async (name, input) => {
      const result = await cordon.callFromModel({ name, arguments: input }, { onAsk: 'suspend' })
      if (result.status === 'pending') tickets.push(result.ticket)
      return toModel(result).text
    },
    /** What the model is told after somebody approved the calls, perhaps in another process. */
    resume: async (kept) => {
      const texts = []
      for (const ticket of kept)
        texts.push(toModel(await cordon.resume(ticket, { kind: 'approve_once', by: 'ann' })).text)
      return `The calls that waited were approved. Their results: ${texts.join('\n')}`
    },
  }
}

// Processes of the guest that attacks try to reach. The first line of each says where it listens, the last what reached
// it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export const startService = async (name, args) => {
  const service = spawn(`/programs/${name}`, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: service.stdout })[Symbol.asyncIterator]()
  const read = async () => (await lines.next()).value
  const first = await read()
  return {
    /** Where it can be reached. Not every service says it. */
    place: () => JSON.parse(first),
    finish: async () => {
      service.stdin.end()
      const last = JSON.parse(await read())
      if (service.exitCode === null) await once(service, 'exit')
      return last
    },
  }
}

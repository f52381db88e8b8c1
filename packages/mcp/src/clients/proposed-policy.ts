// What a tool that waits for consent proposes as its policy, and the line of mcp.yaml that accepts it.
import type { JsonValue } from 'cordon/gate'
import { isMapping } from 'cordon/shapes'

import { proposalOf } from '../server/index.js'
import { acceptingLine } from '../servers/accept-proposal.js'

/** In settings a name is a pattern, so only a plain name is put into a line. */
const PLAIN = /^[\w.:/-]+$/

/** `offered`: an offer as the server sent it. Undefined if it proposes nothing that can be read. */
export const acceptingLineOf = (server: string, offered: JsonValue): string | undefined => {
  if (!isMapping(offered) || typeof offered['name'] !== 'string' || !PLAIN.test(offered['name'])) return undefined
  const { name, annotations } = offered
  const proposal = proposalOf({ name, annotations })
  return proposal.kind === 'policy' ? acceptingLine(server, name, proposal.input) : undefined
}

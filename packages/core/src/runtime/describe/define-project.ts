// The configuration of a project, `cordon.config.ts`, for `cordon manifest`.
import { described, fields, list, optional, text, valuesOf } from '../../shapes/index.js'
import type { Shaped } from '../../shapes/index.js'

const texts = list(text())

export const projectShape = fields({
  entries: optional(described('Modules that create agents (createCordon) or export tools.', texts)),
  agents: optional(
    described(
      'Agents by their names: exported tools by their names, and files with their MCP servers.',
      valuesOf(fields({ tools: optional(texts), mcp: optional(texts) })),
    ),
  ),
  mcp: optional(described('Files with "mcpServers". Every agent has these servers.', texts)),
  policies: optional(described('Policy files for `cordon run`.', texts)),
  tags: optional(fields({ public: optional(texts), trusted: optional(texts), own: optional(texts) })),
})

/** Paths start at the folder of the project. */
export type ProjectOptions = Shaped<typeof projectShape>

/** For `export default defineProject({ … })`, so that the compiler checks it. */
export const defineProject = (options: ProjectOptions): ProjectOptions => options

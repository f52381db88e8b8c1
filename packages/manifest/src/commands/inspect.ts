// `cordon manifest inspect`: shows a manifest, exfiltration paths and unused grants.
import type { Manifest } from 'cordon/manifest'

import { STDOUT, usage, writeText } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'

import { readIntactManifest } from '../project/baseline.js'
import { describeProject } from '../project/describe-project.js'
import type { Inspection } from '../inspect/inspection.js'
import { json } from '../inspect/json.js'
import { markdown } from '../inspect/markdown.js'
import { mermaid } from '../inspect/mermaid.js'
import { svg } from '../inspect/svg.js'
import { text } from '../inspect/text.js'
import type { UnusedGrant } from '../inspect/unused-grants.js'
import { manifestAction } from './manifest.js'
import { projectRequestOf } from '../project/project-request.js'
import { withCompiler } from '../project/with-compiler.js'
import { exfiltrations } from '../flow/exfiltration.js'
import { toolRows } from '../inspect/overview.js'

const COMMAND = 'cordon manifest inspect'
const EXIT_FINDINGS = 1
const FORMS: Readonly<Record<string, (inspection: Inspection) => string>> = { text, markdown, mermaid, svg, json }

export const inspect = manifestAction(async (line) => {
  const { given, environment } = line
  const [, file, ...others] = given.rest
  if (others.length > 0) throw usage(`inspect takes one manifest: ${others.join(' ')} is too much`, COMMAND)
  const named = given.values.get('format')?.[0] ?? 'text'
  const render = Object.hasOwn(FORMS, named) ? FORMS[named] : undefined
  if (render === undefined)
    throw usage(`--format ${named} is unknown`, COMMAND, `use one of: ${Object.keys(FORMS).join(', ')}`)
  const manifest = file === undefined ? await describeProject(projectRequestOf(line)) : readIntactManifest(file)
  const found = exfiltrations(manifest)
  const unused = file === undefined && !given.switches.has('no-code') ? await unusedIn(manifest, line) : []
  writeText(
    STDOUT,
    render({
      hash: manifest.hash,
      rows: toolRows(manifest),
      dynamic: manifest.agents.flatMap(({ name, dynamic }) =>
        dynamic.length === 0 ? [] : [{ agent: name, tools: dynamic }],
      ),
      exfiltrations: found,
      unused,
      environment,
    }),
  )
  return found.length === 0 ? 0 : EXIT_FINDINGS
})

const unusedIn = async (manifest: Manifest, line: CommandLine): Promise<readonly UnusedGrant[]> => {
  const { folder, home } = projectRequestOf(line)
  const [{ toolsInCode }, { unusedGrants }] = await withCompiler(() =>
    Promise.all([import('../project/project-code.js'), import('../inspect/unused-grants.js')]),
  )
  const places = { workspace: folder, home }
  return unusedGrants(manifest, toolsInCode(places), places)
}

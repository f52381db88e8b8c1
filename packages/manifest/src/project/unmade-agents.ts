// Agents and tools in the text of a project that were not made while it was loaded: code in functions makes them later.
import ts from 'typescript'

import { makingCallsIn } from '../analysis/index.js'
import { emptyAgent } from 'cordon/manifest'
import type { ManifestAgent } from 'cordon/manifest'
import type { AbsolutePath } from 'cordon/policy'

import { positionOf, settingsOf } from './project-code.js'

/** Lists them as `dynamic`: in an agent of the same file, or in one that is named after the file. */
export const withUnmade = (
  agents: readonly ManifestAgent[],
  folder: AbsolutePath,
  entries: readonly AbsolutePath[],
): readonly ManifestAgent[] => {
  const made = new Set(agents.flatMap(placesOf))
  const found = agents.map((agent) => ({ ...agent, dynamic: [...agent.dynamic] }))
  for (const { maker, name, node } of makingCallsIn(...codeReachedFrom(entries, folder))) {
    const place = positionOf(node, folder)
    if (made.has(place)) continue
    const file = place.replace(/:\d+$/, '')
    const ofFile = file.replace(/\.[cm]?[jt]sx?$/, '')
    let agent =
      found.findLast(({ source = '' }) => source.startsWith(`${file}:`)) ??
      found.findLast((each) => each.name === ofFile)
    if (agent === undefined) found.push((agent = { ...emptyAgent(ofFile), dynamic: [] }))
    agent.dynamic.push(`${name ?? maker} (${place})`)
  }
  return found.map((agent) => ({ ...agent, dynamic: agent.dynamic.sort() }))
}

const placesOf = ({ source, tools, dynamic }: ManifestAgent): readonly string[] => [
  ...[source, ...tools.map((tool) => tool.source)].flatMap((place) => place ?? []),
  ...dynamic.map((text) => text.slice(text.lastIndexOf(' (') + 2, -1)),
]

/** The files of the project that the entries import, without packages and without types. */
const codeReachedFrom = (
  entries: readonly AbsolutePath[],
  folder: AbsolutePath,
): readonly [readonly ts.SourceFile[], ts.Program] => {
  const options: ts.CompilerOptions = { ...settingsOf(folder).options, noLib: true, types: [] }
  const isOwn = (path: string) => path.startsWith(`${folder}/`) && !path.includes('/node_modules/')
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(options),
    resolveModuleNameLiterals: (literals, file, redirected, given, source) =>
      literals.map((literal) => {
        const mode = ts.getModeForUsageLocation(source, literal, given)
        const found = ts.resolveModuleName(literal.text, file, given, ts.sys, undefined, redirected, mode)
        return found.resolvedModule !== undefined && isOwn(found.resolvedModule.resolvedFileName)
          ? found
          : { resolvedModule: undefined }
      }),
  }
  const program = ts.createProgram({ rootNames: entries, options, host })
  return [program.getSourceFiles().filter(({ fileName }) => isOwn(fileName)), program]
}

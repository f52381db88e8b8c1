// `cordon manifest generate`: writes the manifest of a project.
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { fail, messageOf } from '../../errors/index.js'
import { manifestJson, manifestYaml } from '../../manifest/index.js'

import { usage } from '../arguments.js'
import { STDERR, STDOUT, writeText } from '../text/console-text.js'

import { describeProject, projectRequestOf } from './describe-project.js'
import { manifestAction } from './manifest.js'

const FILE = 'cordon.manifest.json'

export const generate = manifestAction(async (line) => {
  const { values, rest, switches } = line.given
  if (rest.length > 1) throw usage(`generate takes no words: ${rest.slice(1).join(' ')}`, 'cordon manifest generate')
  const request = projectRequestOf(line)
  const out = values.get('out')?.[0] ?? (switches.has('json') ? '-' : FILE)
  const format = formatOf(values.get('format')?.[0], out)
  const manifest = await describeProject(request)
  const text = format === 'yaml' ? manifestYaml(manifest) : manifestJson(manifest)
  if (out === '-') {
    writeText(STDOUT, text)
    return 0
  }
  const path = resolve(request.folder, out)
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw fail('file-unwritable', { path, problem: messageOf(error) }, error)
  }
  const tools = manifest.agents.reduce((sum, agent) => sum + agent.tools.length, 0)
  writeText(STDERR, `wrote ${path}: ${manifest.agents.length} agents, ${tools} tools, ${manifest.hash}\n`)
  return 0
})

const formatOf = (given: string | undefined, out: string): 'json' | 'yaml' => {
  if (given === undefined) return /\.ya?ml$/.test(out) ? 'yaml' : 'json'
  if (given === 'json' || given === 'yaml') return given
  throw usage(`--format ${given} is not known`, 'cordon manifest generate', 'write json or yaml')
}

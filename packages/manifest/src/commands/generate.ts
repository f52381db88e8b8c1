// `cordon manifest generate`: writes the manifest of a project.
import { resolve } from 'node:path'

import { manifestJson, manifestYaml } from 'cordon/manifest'

import { counted, keepKeyOf, requireKeyOf, STDERR, STDOUT, usage, writeText } from 'cordon/commands'

import { MANIFEST_FILE, acceptedIn, existingText, writeManifestFile } from '../project/baseline.js'
import { describeProject } from '../project/describe-project.js'
import { manifestAction } from './manifest.js'
import { projectRequestOf } from '../project/project-request.js'

export const generate = manifestAction(async (line) => {
  const { values, rest } = line.given
  if (rest.length > 1) throw usage(`generate takes no words: ${rest.slice(1).join(' ')}`, 'cordon manifest generate')
  const request = projectRequestOf(line)
  const { key, folder } = request
  const out = values.get('out')?.[0] ?? MANIFEST_FILE
  const format = formatOf(values.get('format')?.[0], out)
  const manifest = await describeProject(request)
  const path = resolve(out === MANIFEST_FILE ? folder : '.', out)
  // Acceptances are no part of what the project allows.
  const accepted = out === '-' ? [] : acceptedIn(path)
  const whole = accepted.length === 0 ? manifest : { ...manifest, accepted: [...accepted] }
  const text = format === 'yaml' ? manifestYaml(whole) : manifestJson(whole)
  if (out !== '-') requireKeyOf(existingText(path), key)
  keepKeyOf(text, key, folder)
  if (out === '-') {
    writeText(STDOUT, text)
    return 0
  }
  writeManifestFile(path, text)
  const tools = manifest.agents.reduce((sum, agent) => sum + agent.tools.length, 0)
  writeText(
    STDERR,
    `wrote ${path}: ${counted(manifest.agents.length, 'agent')}, ${counted(tools, 'tool')}, ${manifest.hash}\n`,
  )
  return 0
})

const formatOf = (given: string | undefined, out: string): 'json' | 'yaml' => {
  if (given === undefined) return /\.ya?ml$/.test(out) ? 'yaml' : 'json'
  if (given === 'json' || given === 'yaml') return given
  throw usage(`--format ${given} is not known`, 'cordon manifest generate', 'write json or yaml')
}

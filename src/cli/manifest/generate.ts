// `cordon manifest generate`: writes the manifest of a project.
import { resolve } from 'node:path'

import { fail, messageOf } from '../../errors/index.js'
import { manifestJson, manifestYaml } from '../../manifest/index.js'
import { replaceFile } from '../../platform/index.js'

import { usage } from '../arguments.js'
import { STDERR, STDOUT, writeText } from '../text/console-text.js'

import { acceptedIn, existingText } from './baseline.js'
import { describeProject } from './describe-project.js'
import { manifestAction } from './manifest.js'
import { keepKeyOf, requireKeyOf } from '../settings/manifest-key.js'
import { projectRequestOf } from './project-request.js'
import { counted } from '../text/counted.js'

const FILE = 'cordon.manifest.json'

export const generate = manifestAction(async (line) => {
  const { values, rest } = line.given
  if (rest.length > 1) throw usage(`generate takes no words: ${rest.slice(1).join(' ')}`, 'cordon manifest generate')
  const request = projectRequestOf(line)
  const { key, folder } = request
  const out = values.get('out')?.[0] ?? FILE
  const format = formatOf(values.get('format')?.[0], out)
  const manifest = await describeProject(request)
  const path = resolve(out === FILE ? folder : '.', out)
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
  write(path, text)
  const tools = manifest.agents.reduce((sum, agent) => sum + agent.tools.length, 0)
  writeText(
    STDERR,
    `wrote ${path}: ${counted(manifest.agents.length, 'agent')}, ${counted(tools, 'tool')}, ${manifest.hash}\n`,
  )
  return 0
})

/** The project may have a link there. The link is replaced, and its target stays as it is. */
const write = (path: string, text: string): void => {
  try {
    replaceFile(path, text, 0o666)
  } catch (error) {
    throw fail('file-unwritable', { path, problem: messageOf(error) }, error)
  }
}

const formatOf = (given: string | undefined, out: string): 'json' | 'yaml' => {
  if (given === undefined) return /\.ya?ml$/.test(out) ? 'yaml' : 'json'
  if (given === 'json' || given === 'yaml') return given
  throw usage(`--format ${given} is not known`, 'cordon manifest generate', 'write json or yaml')
}

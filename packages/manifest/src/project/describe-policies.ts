// The policy files of a project, as tools of `cordon run`: each says what a command may do.
import { readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'

import { messageOf } from 'cordon/errors'
import { loadRules } from 'cordon/gate'
import type { RuleSet } from 'cordon/gate'
import type { ManifestAgent } from 'cordon/manifest'
import { loadPolicyFile } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'
import { processTool } from 'cordon'
import { describeAgent, PROJECT_FOLDER, readRuleFile, ruleFilesIn, trustOf } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import type { ProjectRequest } from './project-request.js'
import { fileIn } from './file-in-project.js'

export const describePolicies = (files: readonly string[], request: ProjectRequest): ManifestAgent | undefined => {
  if (files.length === 0) return undefined
  const { folder, home, key } = request
  const named = files.map((file) => ({
    file,
    name: basename(file).replace(/\.\w+$/, ''),
    policy: policyIn(folder, file),
  }))
  const tools = named.map(({ name, policy }) => ({ ...processTool({ name, command: () => [] }), policy }))
  const agent = describeAgent(
    { tools, workspace: folder, home, rules: rulesIn(request), ruleFiles: 'none' },
    { project: folder, home, key: key.key, tools: [] },
  )
  return {
    ...agent,
    name: 'cordon run',
    tools: agent.tools.map((tool) => ({
      ...tool,
      source: named.find(({ name }) => name === tool.name)?.file ?? '',
      // The command is given when it runs.
      code: null,
    })),
  }
}

const policyIn = (folder: AbsolutePath, file: string) => {
  const path = fileIn(folder, file)
  try {
    return loadPolicyFile(readFileSync(path, 'utf8'), file).policy
  } catch (error) {
    throw fail('project-undescribed', { project: file, problem: messageOf(error), fix: '' }, error)
  }
}

/** The rules of the project alone. Those of the user and of the machine are not part of it. */
const rulesIn = ({ folder, home }: ProjectRequest): readonly RuleSet[] => {
  const trust = trustOf('project', process.geteuid?.() ?? 0, statSync(folder).uid)
  return ruleFilesIn(join(folder, PROJECT_FOLDER), trust).map((file) =>
    loadRules(readRuleFile(file, trust), file, { source: 'project', places: { workspace: folder, home } }),
  )
}

// What createCordon gives while a project is described: it lists its tools, and refuses everything else.
import { fail } from '../../errors/index.js'

import { bindTools } from '../assemble/bind-tools.js'
import type { Cordon } from '../cordon.js'
import type { CordonOptions } from '../cordon-options.js'
import { listTools } from '../model/list-tools.js'
import { checkCordonOptions } from '../settings/check-options.js'
import { requirePortable } from '../tools/function-source.js'
import { requireKnownPrerequisites } from '../tools/known-names.js'

import { describeAgent } from './describe-agent.js'
import { callerIn, describePlace } from '../describing.js'
import type { DescribedAgent, Description } from '../describing.js'

export const describeCordon = (options: CordonOptions, description: Description): Cordon => {
  checkCordonOptions(options)
  for (const each of options.tools) requirePortable(each)
  requireKnownPrerequisites(options.tools)
  const source = callerIn(description)
  const described: DescribedAgent = {
    entry: description.entry,
    name: options.context?.agent,
    tools: [...options.tools],
    agent: { ...describeAgent(options, description), ...(source === undefined ? {} : { source }) },
    dynamic: [],
  }
  description.agents.push(described)
  const listed = listTools(bindTools(options, undefined, undefined).list)
  return {
    ...refusals(),
    listTools: () => listed,
    addTool: (...tools) => {
      described.tools.push(...tools)
      described.dynamic.push(
        ...tools.map((each) =>
          describePlace(each.name, description.tools.find(({ definition }) => definition === each)?.source),
        ),
      )
      return Promise.resolve()
    },
    on: () => () => undefined,
    endSession: () => undefined,
    warnings: [],
    context: [],
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

const refusals = () => {
  const refuse = (): never => {
    throw fail('only-described', {})
  }
  // eslint-disable-next-line @typescript-eslint/require-await -- a refusal is a rejection here, as in a real runtime
  const refuseLater = async (): Promise<never> => refuse()
  return {
    call: refuseLater,
    callStream: refuse,
    callFromModel: refuseLater,
    resume: refuseLater,
    evaluate: refuseLater,
    runUnconfined: refuseLater,
    prewarm: refuseLater,
    setMode: refuseLater,
    addRules: refuseLater,
    removeRules: refuseLater,
    removeTool: refuseLater,
    runHooks: refuseLater,
    state: refuse,
    exportState: refuse,
  }
}

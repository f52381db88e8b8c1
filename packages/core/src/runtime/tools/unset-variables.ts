import { TOOL_KINDS } from '../../policy/index.js'
import { unsetVariables } from '../../sandbox/index.js'

import type { CordonOptions } from '../cordon-options.js'
import type { BoundTool } from './bound-tool.js'

/** A tool that misses a variable may fail far away from the reason. */
export const warningsOfVariables = (
  tools: readonly BoundTool[],
  { environment }: Pick<CordonOptions, 'environment'>,
): readonly string[] =>
  tools
    .filter(({ definition }) => TOOL_KINDS[definition.kind].startsProcess)
    .flatMap(({ definition, gate }) =>
      unsetVariables(gate.boundary, environment ?? {}).map(
        (name) =>
          `the policy of the tool "${definition.name}" passes on ${name}, which is not set, so the tool does not get it; ` +
          (environment === undefined
            ? 'give createCordon the variables: environment: process.env'
            : `set it: environment: { ${name}: "…" }`),
      ),
    )

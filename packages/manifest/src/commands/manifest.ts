// `cordon manifest` without an action that it knows, and the exit statuses of its actions.
import { CordonError } from 'cordon/errors'

import { reportFailure, reportRefusal, unknownAction } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'

const ACTIONS = ['generate', 'verify', 'inspect', 'suggest']
const EXIT_NOT_DESCRIBED = 3

export const manifest = ({ given: { rest } }: CommandLine): Promise<number> => {
  throw unknownAction(rest[0], ACTIONS, 'cordon manifest')
}

/** 1 is for findings, so an action that cannot be done ends with 3. */
export const manifestAction =
  (action: (line: CommandLine) => Promise<number>) =>
  async (line: CommandLine): Promise<number> => {
    try {
      return await action(line)
    } catch (error) {
      if (!(error instanceof CordonError)) {
        reportFailure(error, line.environment)
        return EXIT_NOT_DESCRIBED
      }
      return reportRefusal(error, line.environment) === 2 ? 2 : EXIT_NOT_DESCRIBED
    }
  }

// What keeps opencode from loading plugins, as seen in 1.18.18. No settings of a project do that.
import type { HookAt, Obstacle } from './obstacle.js'

const isSet = (value: string | undefined): boolean => /^(?:1|true)$/i.test(value ?? '')

export const opencodeObstacles = ({ scope, environment }: HookAt): readonly Obstacle[] => [
  ...(isSet(environment['OPENCODE_PURE'])
    ? [{ problem: 'OPENCODE_PURE keeps opencode from loading plugins', fix: 'unset OPENCODE_PURE' }]
    : []),
  ...(scope === 'project' && isSet(environment['OPENCODE_DISABLE_PROJECT_CONFIG'])
    ? [
        {
          problem: 'OPENCODE_DISABLE_PROJECT_CONFIG keeps opencode from reading the folder of the project',
          fix: 'cordon hook install opencode --user, or unset that variable',
        },
      ]
    : []),
]

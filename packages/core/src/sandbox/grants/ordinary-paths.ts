import { fail } from '../../errors/index.js'
import { NotOrdinary } from '../../platform/index.js'

/** Most such paths the local host finds before it decides, and another process serves the run. Here it is too late. */
export const onlyOrdinary = <Found>(look: () => Found): Found => {
  try {
    return look()
  } catch (error) {
    if (!(error instanceof NotOrdinary)) throw error
    throw fail(
      'plan-rejected',
      {
        problem:
          'something in the granted folders is a link that leads through /proc, and means something else in each ' +
          'process; remove it, or run without the local host (CORDON_HOST=off)',
      },
      error,
    )
  }
}

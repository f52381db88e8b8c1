import type { AbsolutePath, Boundary } from '../policy/index.js'
import { PROTECTED_NAMES, isNamedBy } from '../policy/index.js'

import { objectAt } from './object-at.js'
import type { Place } from './survey.js'

/** The protected names that exist directly in the write roots. */
export const findProtectedPlaces = (boundary: Boundary): readonly Place[] => {
  const roots = boundary.write.filter(({ negated, kind }) => !negated && kind !== 'pattern')
  return roots.flatMap(({ base }) =>
    PROTECTED_NAMES.flatMap((entry) => {
      const path = `${base}/${entry.name}` as AbsolutePath
      const object = objectAt(path)
      if (object === undefined || object === 'link' || (entry.object === 'file' && object === 'directory')) return []
      return isNamedBy(boundary.write, entry, path) ? [] : [{ path, object }]
    }),
  )
}

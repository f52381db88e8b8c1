import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath, parentOf } from '../../policy/index.js'

import type { Place } from '../grants/object-at.js'

/**
 * With Landlock alone: the folders of write roots in which nothing can be made, renamed or removed. Its rules cannot
 * subtract, so a folder with a carve-out beneath it is granted entry by entry, and not itself.
 */
export const closedFolders = (
  writeRoots: readonly Place[],
  carved: readonly AbsolutePath[],
): readonly AbsolutePath[] => {
  const closed = new Set<AbsolutePath>()
  for (const root of writeRoots) {
    if (carved.some((path) => isWithinPath(root.path, path))) continue
    for (const path of carved.filter((each) => isWithinPath(each, root.path))) {
      for (let folder = parentOf(path); isWithinPath(folder, root.path); folder = parentOf(folder)) closed.add(folder)
    }
  }
  return [...closed].sort()
}

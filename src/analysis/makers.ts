// The functions of Cordon that make agents and tools, under whatever name a program calls them.
import type { Origin } from './origin.js'

export const TOOL_MAKERS: readonly string[] = ['tool', 'processTool', 'containerTool', 'wasmTool', 'sandboxedTool']

/** The name of the function in Cordon, if it is one of `makers`. */
export const makerIn = (origins: readonly Origin[], makers: readonly string[]): string | undefined => {
  for (const origin of origins) {
    if (origin.kind !== 'package' || origin.name !== 'cordon' || origin.path.length !== 1) continue
    // A computed name may be any of them.
    const name = origin.path[0] ?? 'createCordon'
    if (makers.includes(name)) return name
  }
  return undefined
}

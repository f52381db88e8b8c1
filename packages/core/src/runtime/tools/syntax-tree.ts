import type { AnyNode, Node } from 'acorn'

/** The nodes directly beneath one, whatever its type. */
export const childrenOf = (node: AnyNode): readonly AnyNode[] =>
  Object.values(node)
    .flatMap((value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [value]))
    .filter(isNode) as readonly AnyNode[]

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value

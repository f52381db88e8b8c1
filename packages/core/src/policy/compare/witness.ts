import type { AbsolutePath } from '../glob/absolute-path.js'
import type { EnvironmentEntry, Limits, Mechanism, ToolKind } from '../model.js'

/** An example of something that one policy allows and another does not. */
export type Witness =
  | {
      readonly kind: 'file'
      readonly access: 'read' | 'write'
      /** Absolute, or from the workspace (`./x`) or the home (`~/x`) if those are not known. */
      readonly path: string
      /** The position of workspace and home for which it is so, if it is not so for all. */
      readonly assuming?: string
    }
  | { readonly kind: 'network'; readonly request: RequestWitness }
  | { readonly kind: 'environment'; readonly entry: EnvironmentEntry }
  | { readonly kind: 'credential'; readonly id: string; readonly request: RequestWitness }
  | { readonly kind: 'exec'; readonly program: string }
  | {
      readonly kind: 'limit'
      readonly limit: keyof Limits
      readonly value: number | 'unlimited'
      readonly bound: number
    }
  | { readonly kind: 'require'; readonly mechanism: Mechanism }
  /** A kind of tool that is confined less than the other one. */
  | { readonly kind: 'confinement'; readonly tool: ToolKind; readonly bound: ToolKind }
  /** An exact answer would take too long. Treat it as a no. */
  | { readonly kind: 'undecided'; readonly section: 'read' | 'write' | 'network' }

/** `stream`: a connection that may carry anything. `direct`: one that the proxy does not look into. */
export interface RequestWitness {
  /** A name, or an IP address. */
  readonly host: string
  readonly port: number
  /** An address to which the name may lead. Undefined if it may be any. */
  readonly address?: string
  readonly use:
    | { readonly kind: 'http'; readonly method: string; readonly path: AbsolutePath | 'ambiguous' }
    | { readonly kind: 'stream' }
    | { readonly kind: 'direct' }
}

/** One line for a person: "can write /srv/x". */
export const describeWitness = (witness: Witness): string => {
  switch (witness.kind) {
    case 'file':
      return `can ${witness.access} ${witness.path}${witness.assuming === undefined ? '' : ` if ${witness.assuming}`}`
    case 'network':
      return describeRequest(witness.request)
    case 'environment':
      return witness.entry.value.kind === 'pass'
        ? `gets the variable ${witness.entry.name}`
        : `gets the variable ${witness.entry.name} with a value of its own`
    case 'credential':
      return `${describeRequest(witness.request)} with the credential ${witness.id}`
    case 'exec':
      return `can start ${witness.program}`
    case 'limit':
      return `has ${witness.value} as limit ${witness.limit}, beyond ${witness.bound}`
    case 'require':
      return `runs without ${witness.mechanism}`
    case 'confinement':
      return witness.tool === 'in-process'
        ? "runs in the agent's own process, where no sandbox confines it"
        : 'shares one cell with the other tools of its server'
    case 'undecided':
      return (
        `may go further in ${witness.section}: the patterns are too entangled to decide; write them with fewer ` +
        'wildcards'
      )
  }
}

const describeRequest = ({ host, port, address, use }: RequestWitness): string => {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}${address === undefined ? '' : ` at the address ${address}`}`
  switch (use.kind) {
    case 'http':
      return (
        `can send ${use.method} ` +
        `${use.path === 'ambiguous' ? 'with a path that servers read differently' : use.path} to ${place}`
      )
    case 'stream':
      return `can talk any protocol to ${place}`
    case 'direct':
      return `can reach ${place} without inspection`
  }
}

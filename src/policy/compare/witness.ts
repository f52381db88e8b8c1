import type { AbsolutePath } from '../glob/absolute-path.js'
import type { EgressClass, EnvironmentEntry, Limits, Mechanism } from '../model.js'

/** An example of something that one policy allows and another does not. */
export type Witness =
  | { readonly kind: 'file'; readonly access: 'read' | 'write'; readonly path: AbsolutePath }
  | { readonly kind: 'network'; readonly request: RequestWitness }
  | { readonly kind: 'egress_class'; readonly level: EgressClass; readonly bound: EgressClass }
  | { readonly kind: 'environment'; readonly entry: EnvironmentEntry }
  | { readonly kind: 'credential'; readonly id: string; readonly host: string }
  | { readonly kind: 'exec'; readonly program: string }
  | {
      readonly kind: 'limit'
      readonly limit: keyof Limits
      readonly value: number | 'unlimited'
      readonly bound: number
    }
  | { readonly kind: 'require'; readonly mechanism: Mechanism }
  /** An exact answer would take too long. Treat it as a no. */
  | { readonly kind: 'undecided'; readonly section: 'read' | 'write' | 'network' }

/** `stream`: a connection that may carry anything. `direct`: one that the proxy does not look into. */
export interface RequestWitness {
  /** A name, or an IP address. */
  readonly host: string
  readonly port: number
  readonly use:
    | { readonly kind: 'http'; readonly method: string; readonly path: AbsolutePath | 'ambiguous' }
    | { readonly kind: 'stream' }
    | { readonly kind: 'direct' }
}

/** One line for a person: "can write /srv/x". */
export const describeWitness = (witness: Witness): string => {
  switch (witness.kind) {
    case 'file':
      return `can ${witness.access} ${witness.path}`
    case 'network':
      return describeRequest(witness.request)
    case 'egress_class':
      return `has the egress class ${witness.level} instead of ${witness.bound}`
    case 'environment':
      return witness.entry.value.kind === 'pass'
        ? `gets the variable ${witness.entry.name}`
        : `gets ${witness.entry.name}=${witness.entry.value.text}`
    case 'credential':
      return `uses the credential ${witness.id} at ${witness.host}`
    case 'exec':
      return `can start ${witness.program}`
    case 'limit':
      return `has ${witness.value} as limit ${witness.limit}, beyond ${witness.bound}`
    case 'require':
      return `runs without ${witness.mechanism}`
    case 'undecided':
      return (
        `may go further in ${witness.section}: the patterns are too entangled to decide; write them with fewer ` +
        'wildcards'
      )
  }
}

const describeRequest = ({ host, port, use }: RequestWitness): string => {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
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

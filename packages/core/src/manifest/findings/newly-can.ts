// What a tool can newly do, in words that follow its name.
import { LIMIT_FORMS, renderSize, renderTime } from '../../policy/index.js'
import type { RequestWitness, Witness } from '../../policy/index.js'

import { say, words } from './sentence.js'
import type { Sentence } from './sentence.js'

export const newlyCan = (witness: Witness): Sentence => {
  switch (witness.kind) {
    case 'file': {
      const { access, path, assuming } = witness
      return say` can now ${words(access)} ${path}${assuming === undefined ? [] : say` if ${assuming}`}`
    }
    case 'network':
      return say` can now ${request(witness.request)}`
    case 'environment':
      return witness.entry.value.kind === 'pass'
        ? say` now gets the variable ${witness.entry.name} of the host`
        : say` now gets the variable ${witness.entry.name} with a set value`
    case 'credential':
      return say` can now ${request(witness.request)} with ${witness.id}`
    case 'exec':
      return say` can now start ${witness.program}`
    case 'limit': {
      const { limit, value, bound } = witness
      const was = say`, was ${words(quantity(limit, bound))}`
      return value === 'unlimited'
        ? say` now has no limit ${words(limit)}${was}`
        : say` now has ${words(quantity(limit, value))} as limit ${words(limit)}${was}`
    }
    case 'require':
      return say` now runs without ${words(witness.mechanism)}`
    case 'confinement':
      return witness.tool === 'in-process'
        ? say` now runs in the agent's own process, where no sandbox confines it`
        : say` now shares one cell with the other tools of its server`
    case 'undecided':
      return say` may now do more in ${words(witness.section)}: its patterns are too entangled to decide`
  }
}

const request = ({ host, port, address, use }: RequestWitness): Sentence => {
  const name = host.includes(':') ? `[${host}]` : host
  const at = address === undefined ? [] : say` at the address ${address}`
  switch (use.kind) {
    case 'http': {
      const place = port === 443 ? name : `${name}:${String(port)}`
      if (use.path === 'ambiguous') return say`${use.method} to ${place} with a path that servers read differently${at}`
      return use.path === '/' ? say`${use.method} to ${place}${at}` : say`${use.method} ${use.path} to ${place}${at}`
    }
    case 'stream':
      return say`talk any protocol to ${`${name}:${String(port)}`}${at}`
    case 'direct':
      return say`reach ${`${name}:${String(port)}`} without inspection${at}`
  }
}

const quantity = (limit: Extract<Witness, { readonly kind: 'limit' }>['limit'], value: number): string => {
  switch (LIMIT_FORMS[limit].quantity) {
    case 'size':
      return renderSize(value)
    case 'duration':
      return renderTime(value)
    case 'count':
      return String(value)
  }
}

import type { Form } from '../../policy/index.js'

interface FormParts {
  /** A root of its own, made of mounts: what is not granted is not there. */
  readonly ownRoot: boolean
  readonly ownProcesses: boolean
  readonly ownNetwork: boolean
  readonly landlock: boolean
}

const NAMESPACES = { ownRoot: true, ownProcesses: true, ownNetwork: true }

/** What the launcher gives a cell of each form. A wall or a container around it may add some of this. */
export const FORM_HAS: Readonly<Record<Form, FormParts>> = {
  namespaces: { ...NAMESPACES, landlock: true },
  landlock: { ownRoot: false, ownProcesses: false, ownNetwork: false, landlock: true },
  mounts: { ...NAMESPACES, landlock: false },
}

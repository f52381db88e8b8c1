// Paths on this host, without the rest of the runtime: `cordon hook` judges the paths of an agent's file tools.
export { resolveOnHost } from './host-paths.js'
